// Texts that players and owners read.

import { type Sentence, sayInAll } from "@svc/proto/language";
import type { ScheduleRow } from "./row.ts";

type Warned = Exclude<ScheduleRow["action"], "command" | "start">;

const warnings: Readonly<Record<Warned, Sentence>> = {
  restart: { en: "The server restarts in {time}.", zh: "服务器将在 {minutes} 分钟后重启。" },
  stop: { en: "The server stops in {time}.", zh: "服务器将在 {minutes} 分钟后关闭。" },
  backup: {
    en: "The server pauses for a backup in {time}.",
    zh: "服务器将在 {minutes} 分钟后暂停以进行备份。",
  },
};

/** The console command that warns all players, in yellow and in both languages; undefined for an action without a warning. */
export function warningCommand(action: ScheduleRow["action"], minutes: number): string | undefined {
  if (action === "command" || action === "start") return undefined;
  const time = minutes === 1 ? "1 minute" : `${minutes} minutes`;
  const text = sayInAll(warnings[action], " ", { time, minutes });
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
