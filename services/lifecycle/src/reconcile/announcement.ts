import { type Sentence, sayInAll } from "@svc/proto/language";
import type { Announcement } from "./plan.ts";

const texts: Readonly<Record<Announcement, Sentence>> = {
  "stop-soon": { en: "The server stops in {seconds} seconds.", zh: "服务器将在 {seconds} 秒后关闭。" },
  "stop-now": { en: "The server stops now.", zh: "服务器正在关闭。" },
  "stop-cancelled": {
    en: "The stop was cancelled; the server stays online.",
    zh: "已取消关闭，服务器继续运行。",
  },
};

/** The console command that shows all players one line, in yellow and in both languages. */
export function announcementCommand(message: Announcement, seconds: number): string {
  const text = sayInAll(texts[message], " ", { seconds });
  return `tellraw @a ${JSON.stringify({ text, color: "yellow" })}`;
}
