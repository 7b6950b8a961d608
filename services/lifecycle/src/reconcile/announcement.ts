import type { Announcement } from "./plan.ts";

const words: Record<Announcement, (seconds: number) => readonly [english: string, chinese: string]> = {
  "stop-soon": (seconds) => [`The server stops in ${seconds} seconds.`, `服务器将在 ${seconds} 秒后关闭。`],
  "stop-now": () => ["The server stops now.", "服务器正在关闭。"],
  "stop-cancelled": () => [
    "The stop was cancelled; the server stays online.",
    "已取消关闭，服务器继续运行。",
  ],
};

/** The console command that shows all players one line, in yellow and in both languages. */
export function announcementCommand(message: Announcement, seconds: number): string {
  const text = words[message](seconds).join(" ");
  return `tellraw @a ${JSON.stringify({ text, color: "yellow" })}`;
}
