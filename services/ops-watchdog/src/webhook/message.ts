// Bodies of deliveries in each format (docs/reference/webhooks.md#formats). Pure.

import type { webhooks } from "@svc/proto";
import { type Language, type Sentence, say } from "@svc/proto/language";
import { plainMarkdown } from "../watchdog/deliver/channel.ts";

export type Told = {
  event_id: string;
  type: webhooks.WebhookEventType;
  server_name: string | null;
  at: Date;
  data: Readonly<Record<string, unknown>>;
};

export const sentences: Readonly<Record<webhooks.WebhookEventType, Sentence>> = {
  "server.starting": { en: "🟡 {server} is starting.", zh: "🟡 {server} 正在启动。" },
  "server.ready": { en: "🟢 {server} is ready: players can join.", zh: "🟢 {server} 已就绪，玩家可以加入。" },
  "server.stopped": { en: "⚪ {server} has stopped.", zh: "⚪ {server} 已停止。" },
  "server.failed": { en: "🔴 {server} failed ({reason}).", zh: "🔴 {server} 出现故障（{reason}）。" },
  "server.crashed": { en: "🔴 {server} crashed ({cause}).", zh: "🔴 {server} 已崩溃（{cause}）。" },
  "server.hung": { en: "🔴 {server} no longer answers.", zh: "🔴 {server} 不再响应。" },
  "player.joined": { en: "➡️ {player_name} joined {server}.", zh: "➡️ {player_name} 加入了 {server}。" },
  "player.left": { en: "⬅️ {player_name} left {server}.", zh: "⬅️ {player_name} 离开了 {server}。" },
  "backup.succeeded": { en: "💾 A backup of {server} was made.", zh: "💾 {server} 的备份已完成。" },
  "backup.failed": { en: "🔴 A backup of {server} failed: {message}", zh: "🔴 {server} 备份失败：{message}" },
  "restore.succeeded": {
    en: "♻️ The world of {server} was restored from a backup.",
    zh: "♻️ {server} 的世界已从备份恢复。",
  },
  "restore.failed": {
    en: "🔴 A restore of {server} failed: {message}",
    zh: "🔴 {server} 恢复失败：{message}",
  },
  "schedule.failed": {
    en: "🔴 A scheduled task of {server} ({action}) was {result}.",
    zh: "🔴 {server} 的计划任务（{action}）未成功：{result}。",
  },
  "alert.firing": { en: "🔴 Alert: {summary}", zh: "🔴 警报：{summary}" },
  "alert.resolved": { en: "🟢 Resolved: {summary}", zh: "🟢 已恢复：{summary}" },
  "build.succeeded": { en: "📦 The image {name} was built.", zh: "📦 镜像 {name} 构建完成。" },
  "build.failed": { en: "🔴 The build of {name} failed: {cause}", zh: "🔴 {name} 构建失败：{cause}" },
  "build.cancelled": { en: "⚪ The build of {name} was cancelled.", zh: "⚪ {name} 的构建已取消。" },
  ping: { en: "👋 This is a test of a webhook of svc.", zh: "👋 这是 svc 的 webhook 测试消息。" },
};

const longestText = 1_500;

type Body = { format: webhooks.WebhookFormat; language: Language; installation: string };

/** The body of one delivery, as text. */
export function bodyOf(told: Told, { format, language, installation }: Body): string {
  if (format === "discord")
    return JSON.stringify({
      content: textOf(told, language, plainMarkdown),
      allowed_mentions: { parse: [] },
    });
  if (format === "slack") return JSON.stringify({ text: textOf(told, language, plainSlack) });
  const { event_id: id, type, server_name, at, data } = told;
  return JSON.stringify({
    ...{ id, type, at: at.toISOString(), installation },
    ...(server_name !== null && { server: server_name }),
    data,
  });
}

/** One line; values that others chose mention nobody and format nothing. */
function textOf(
  { type, server_name, data }: Told,
  language: Language,
  plain: (text: string) => string,
): string {
  const { summary, ...rest } = data;
  const values: Record<string, string> = { player_name: "?", cause: "?", server: plain(server_name ?? "") };
  for (const [name, value] of Object.entries(rest))
    if (typeof value === "string" || typeof value === "number") values[name] = plain(oneLine(String(value)));
  if (isSentence(summary)) values["summary"] = plain(oneLine(summary[language]));
  return say(sentences[type] as Sentence, language, values);
}

function isSentence(value: unknown): value is Sentence {
  return typeof value === "object" && value !== null && "en" in value && "zh" in value;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, longestText);
}

/** Slack reads `<…>` as a link or a mention and `&` as an entity; `*_~` and backquotes format. */
function plainSlack(text: string): string {
  const joined = text.replace(/[*_~`]/g, "\u200b$&");
  return joined.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
