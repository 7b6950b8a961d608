// The one mail of a run: pure (docs/reference/alerts.md#mail).

import { shortMoment } from "@svc/proto";
import type { Language, Sentence } from "@svc/proto/language";
import { say } from "@svc/proto/language";
import type { Due, DueAlert } from "./due.ts";

const words = {
  alert: {
    en: "svc alert ({host}): {firing} firing, {resolved} resolved",
    zh: "svc 警报（{host}）：{firing} 项告警中，{resolved} 项已恢复",
  },
  critical: {
    en: "svc critical alert ({host}): {firing} firing, {resolved} resolved",
    zh: "svc 严重警报（{host}）：{firing} 项告警中，{resolved} 项已恢复",
  },
  resolved: {
    en: "svc resolved ({host}): {firing} firing, {resolved} resolved",
    zh: "svc 已恢复（{host}）：{firing} 项告警中，{resolved} 项已恢复",
  },
  firing: { en: "New", zh: "新出现" },
  reminders: { en: "Still firing (daily reminder)", zh: "仍在告警（每日提醒）" },
  over: { en: "Resolved", zh: "已恢复" },
  others: { en: "Also still firing", zh: "其他仍在告警" },
  since: { en: "since {moment}", zh: "始于 {moment}" },
  severe: { en: "critical", zh: "严重" },
  warning: { en: "warning", zh: "警告" },
  where: {
    en: "svc alerts lists them; the panel has them under Health.",
    zh: "可用 svc alerts 查看，面板的“健康”页面中也有。",
  },
  test: { en: "svc test alert ({host})", zh: "svc 测试警报（{host}）" },
  testText: {
    en: "This is a test: alerts of the platform reach you this way.",
    zh: "这是一封测试邮件：平台警报会以此方式送达。",
  },
} as const satisfies Record<string, Sentence>;

type About = { host: string; language: Language };
type Letter = { subject: string; text: string };

/** Lines end in CRLF. */
export function composeMail(due: Due, { host, language }: About): Letter {
  const fill = (sentence: Sentence, values = {}) => say(sentence, language, values);
  const section = (title: Sentence, alerts: readonly DueAlert[], withHint: boolean) =>
    alerts.length === 0
      ? []
      : [`${fill(title)}:`, "", ...alerts.flatMap((alert) => [...linesOf(alert, language, withHint), ""])];
  const lines = [
    ...section(words.firing, due.firing, true),
    ...section(words.reminders, due.reminders, true),
    ...section(words.over, due.resolved, false),
    ...section(words.others, due.others, false),
    fill(words.where),
  ];
  const counts = {
    host,
    firing: due.firing.length + due.reminders.length + due.others.length,
    resolved: due.resolved.length,
  };
  return { subject: fill(subjectOf(due), counts), text: toCrlf(lines) };
}

function subjectOf({ firing, reminders }: Due): Sentence {
  const urgent = [...firing, ...reminders];
  if (urgent.length === 0) return words.resolved;
  return urgent.some(({ severity }) => severity === "critical") ? words.critical : words.alert;
}

function linesOf(alert: DueAlert, language: Language, withHint: boolean): string[] {
  const { severity, summary, first_seen, hint } = alert;
  const moment = shortMoment(first_seen);
  const level = say(severity === "critical" ? words.severe : words.warning, language);
  return [
    `[${level}] ${summary[language]}`,
    `  ${say(words.since, language, { moment })}`,
    ...(withHint ? [`  → ${hint[language]}`] : []),
  ];
}

export function composeTest({ host, language }: About): Letter {
  return { subject: say(words.test, language, { host }), text: toCrlf([say(words.testText, language)]) };
}

function toCrlf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\r\n`).join("");
}
