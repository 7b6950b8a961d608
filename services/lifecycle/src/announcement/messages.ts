// What players read in the game (docs/reference/announcements.md#game).

import type { announcements as contracts } from "@svc/proto";
import { type Language, type Sentence, say } from "@svc/proto/language";
import type { AnnouncementRow } from "./row.ts";
import type { Step } from "./rules.ts";

const sentences = {
  message: { en: "Announcement: {text}", zh: "公告：{text}" },
  soon: {
    en: "Maintenance begins in {time}: {text} From then on no sleeping server can be woken.",
    zh: "维护将在 {time}后开始：{text} 届时将无法唤醒休眠的服务器。",
  },
  begun: {
    en: "Maintenance has begun, for about {time}: {text} Until then no sleeping server can be woken.",
    zh: "维护已开始，预计持续 {time}：{text} 在此期间无法唤醒休眠的服务器。",
  },
} as const satisfies Record<string, Sentence>;

const units = {
  minute: { en: "1 minute", zh: "1 分钟" },
  minutes: { en: "{n} minutes", zh: "{n} 分钟" },
  hours: { en: "{n} hours", zh: "{n} 小时" },
  days: { en: "{n} days", zh: "{n} 天" },
} as const satisfies Record<string, Sentence>;

function timeOf(minutes: number, language: Language): string {
  if (minutes === 1) return say(units.minute, language);
  if (minutes < 120) return say(units.minutes, language, { n: minutes });
  const hours = Math.round(minutes / 60);
  if (hours < 48) return say(units.hours, language, { n: hours });
  return say(units.days, language, { n: Math.round(hours / 24) });
}

const colors: Readonly<Record<contracts.Severity, string>> = { info: "aqua", warning: "gold" };

/** The console commands that tell all players, one for each language in which there is a text. */
export function announcementCommands(row: AnnouncementRow, { minutes, leftMinutes }: Step): string[] {
  const sentence = !row.maintenance ? sentences.message : minutes === 0 ? sentences.begun : sentences.soon;
  const texts: [Language, string | null][] = [
    ["en", row.text_en],
    ["zh", row.text_zh],
  ];
  return texts.flatMap(([language, text]) => {
    if (text === null) return [];
    const line = say(sentence as Sentence, language, { text, time: timeOf(leftMinutes, language) });
    return [`tellraw @a ${JSON.stringify({ text: line, color: colors[row.severity] })}`];
  });
}
