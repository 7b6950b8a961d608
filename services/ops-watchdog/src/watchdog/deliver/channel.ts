// Channels beside mail: a signed webhook, or one that Discord understands (docs/reference/alerts.md#channels).

import { createHmac } from "node:crypto";
import { post } from "../../outgoing/post.ts";
import type { Due, DueAlert } from "../due.ts";
import { pin } from "./address.ts";

export type Channel = {
  name: string;
  format: "json" | "discord";
  url: string;
  /** Signs the body of the format `json`. */
  secret: string;
};

type Sending = { mayBeInternal: boolean; withinMs: number; now: () => number };

const longestContent = 1_900;

/** Rejects unless the receiver answers 2xx. */
export async function sendToChannel(channel: Channel, body: string, about: Sending): Promise<void> {
  const url = new URL(channel.url);
  if (url.protocol !== "https:" && !(about.mayBeInternal && url.protocol === "http:"))
    throw new Error("its address must be https");
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "user-agent": "svc-watchdog",
  };
  if (channel.secret !== "") {
    const timestamp = String(Math.floor(about.now() / 1_000));
    headers["svc-timestamp"] = timestamp;
    headers["svc-signature"] = `sha256=${sign(channel.secret, timestamp, body)}`;
  }
  const signal = AbortSignal.timeout(about.withinMs);
  const addresses = [await pin(url.hostname, about.mayBeInternal)];
  const { status } = await post(url, { body, headers, addresses, signal, mostBytes: 0 }).catch(
    (error: Error) => {
      throw signal.aborted ? new Error(`${url.host} did not answer in time`) : error;
    },
  );
  // A redirect is not followed: it could lead inside.
  if (status < 200 || status >= 300) throw new Error(`${url.host} answered ${status}`);
}

/** HMAC-SHA-256 of `<timestamp>.<body>`, hex. */
export function sign(secret: string, timestamp: string, body: string): string {
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
}

export function channelBody(channel: Channel, due: Due, about: { host: string; now: number }): string {
  return JSON.stringify(channel.format === "discord" ? discordBody(due, about) : jsonBody(due, about));
}

export function channelTestBody(channel: Channel, about: { host: string; now: number }): string {
  const at = new Date(about.now).toISOString();
  return JSON.stringify(
    channel.format === "discord"
      ? { content: `**svc test alert** (${about.host})`, allowed_mentions: { parse: [] } }
      : { type: "test", host: about.host, at },
  );
}

function jsonBody(
  { firing, reminders, resolved, others }: Due,
  { host, now }: { host: string; now: number },
) {
  const list = (alerts: readonly DueAlert[]) =>
    alerts.map(({ key, severity, summary, hint, first_seen, event }) => ({
      ...{ key, severity, summary, hint, event },
      since: new Date(first_seen).toISOString(),
    }));
  return {
    ...{ type: "alerts", host, at: new Date(now).toISOString() },
    ...{ firing: list(firing), reminders: list(reminders), resolved: list(resolved), others: list(others) },
  };
}

/** Plain text in a message; nobody is mentioned, whatever a name of a server says. */
function discordBody({ firing, reminders, resolved }: Due, { host }: { host: string }) {
  const lines = [
    ...firing.map(({ severity, summary }) => `${severity === "critical" ? "🔴" : "🟠"} ${summary.en}`),
    ...reminders.map(({ summary }) => `🔁 ${summary.en}`),
    ...resolved.map(({ summary }) => `🟢 resolved: ${summary.en}`),
  ];
  const title = `**svc** (${host}): ${firing.length + reminders.length} firing, ${resolved.length} resolved`;
  let content = title;
  let left = lines.length;
  for (const line of lines) {
    if (content.length + line.length > longestContent) break;
    content += `\n${plainMarkdown(line)}`;
    left -= 1;
  }
  if (left > 0) content += `\n… and ${left} more`;
  return { content, allowed_mentions: { parse: [] } };
}

/** Text that Discord shows as it is. */
export function plainMarkdown(text: string): string {
  return text.replace(/[*_~`|>\\[\]()#-]/g, "\\$&");
}
