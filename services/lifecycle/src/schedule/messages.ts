// Texts that players and owners read.

import type { ScheduleRow } from "./row.ts";

type Warned = Exclude<ScheduleRow["action"], "command" | "start">;

const warnings: Record<Warned, (minutes: number) => readonly [english: string, chinese: string]> = {
  restart: (minutes) => [
    `The server restarts in ${minutesOf(minutes)}.`,
    `服务器将在 ${minutes} 分钟后重启。`,
  ],
  stop: (minutes) => [`The server stops in ${minutesOf(minutes)}.`, `服务器将在 ${minutes} 分钟后关闭。`],
  backup: (minutes) => [
    `The server pauses for a backup in ${minutesOf(minutes)}.`,
    `服务器将在 ${minutes} 分钟后暂停以进行备份。`,
  ],
};

function minutesOf(minutes: number): string {
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

/** The console command that warns all players, in yellow and in both languages; undefined for an action without a warning. */
export function warningCommand(action: ScheduleRow["action"], minutes: number): string | undefined {
  if (action === "command" || action === "start") return undefined;
  const text = warnings[action](minutes).join(" ");
  return `tellraw @a ${JSON.stringify({ text, color: "yellow" })}`;
}

const detailBytes = 500;

/** One plain line of at most 500 bytes, without the game's formatting codes. */
export function detailOf(text: string): string {
  const plain = text
    .replace(/§./gsu, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  const bytes = Buffer.from(plain);
  if (bytes.length <= detailBytes) return plain;
  const ellipsis = "…";
  let end = detailBytes - Buffer.byteLength(ellipsis);
  // Never cuts a character in two: bytes that begin with 0b10 continue the one before.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString("utf8")}${ellipsis}`;
}
