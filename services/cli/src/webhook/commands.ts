// Webhooks of a server, or of the installation (docs/reference/webhooks.md#commands).

import { text as readAll } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { type Language, languages, webhooks } from "@svc/proto";
import type { z } from "zod";
import { connectExternal } from "../account/external.ts";
import { hint } from "../hint.ts";
import { CommandError, type Outcome, table, UsageError } from "../output.ts";

/** Without a server: those of the installation. */
export type At = { data: string; server?: string };
type Given = { label?: string; url?: string; event?: string[]; language?: string };
export type CreateOptions = At & Given & { format: string };
export type SetOptions = At & Given & { on?: boolean; off?: boolean };
export type DeliveriesOptions = At & { state?: string; limit: number };

const testWithinMs = 30_000;

/** The operations of either kind of webhook. */
function connect({ data, server }: At) {
  const { call } = connectExternal(data);
  const of = server === undefined ? undefined : { name: server };
  return {
    list: () => (of ? call(webhooks.list, of) : call(webhooks.listPlatform, {})),
    create: (body: Body & { url: string; format: webhooks.WebhookFormat }) =>
      of
        ? call(webhooks.create, { ...of, ...body, events: ofServer(body.events) })
        : call(webhooks.createPlatform, { ...body, events: ofPlatform(body.events) }),
    change: (body: Body & { id: string; url?: string; enabled: boolean }) =>
      of
        ? call(webhooks.change, { ...of, ...body, events: ofServer(body.events) })
        : call(webhooks.changePlatform, { ...body, events: ofPlatform(body.events) }),
    remove: (id: string) =>
      of ? call(webhooks.remove, { ...of, id }) : call(webhooks.removePlatform, { id }),
    rotate: (id: string) =>
      of ? call(webhooks.rotate, { ...of, id }) : call(webhooks.rotatePlatform, { id }),
    test: (id: string) => (of ? call(webhooks.test, { ...of, id }) : call(webhooks.testPlatform, { id })),
    deliveries: (query: { id: string; state?: webhooks.DeliveryState; limit: number; offset: number }) =>
      of ? call(webhooks.listDeliveries, { ...of, ...query }) : call(webhooks.listPlatformDeliveries, query),
    redeliver: (id: string, delivery: string) =>
      of
        ? call(webhooks.redeliver, { ...of, id, delivery })
        : call(webhooks.redeliverPlatform, { id, delivery }),
  };
}

type Body = { label: string; events: readonly string[]; language: Language };

const ofServer = (events: readonly string[]) =>
  events.map((one) => oneOf(webhooks.ServerEventType, one, "event of a server"));
const ofPlatform = (events: readonly string[]) =>
  events.map((one) => oneOf(webhooks.PlatformEventType, one, "event"));

function oneOf<T extends string>(
  schema: z.ZodType<T> & { options: readonly T[] },
  text: string,
  what: string,
): T {
  const { data } = schema.safeParse(text);
  if (data === undefined)
    throw new UsageError(`${text} is no ${what}; there are ${schema.options.join(", ")}`);
  return data;
}

function languageOf(text: string | undefined): Language | undefined {
  if (text === undefined) return undefined;
  const found = languages.find((one) => one === text);
  if (!found) throw new UsageError(`${text} is no language; there are ${languages.join(", ")}`);
  return found;
}

/** An address is a secret: `-` reads it from standard input, so that it is in no history of a shell. */
async function addressOf(text: string): Promise<string> {
  return text === "-" ? (await readAll(process.stdin)).trim() : text;
}

export async function list(options: At): Promise<Outcome> {
  const answer = await connect(options).list();
  const rows = answer.webhooks.map((one) => [
    ...[one.id, one.label, one.format, one.host],
    one.enabled ? "on" : `off: ${(one.off_reason ?? "").replaceAll("_", " ")}`,
    ...[String(one.waiting), String(one.dead), lastOf(one), one.events.join(",")],
  ]);
  const head = ["ID", "LABEL", "FORMAT", "HOST", "STATE", "WAITING", "DEAD", "LAST", "EVENTS"];
  const where = options.server ?? "The installation";
  return {
    json: answer,
    text: rows.length === 0 ? `${where} has no webhooks.` : table([head, ...rows]),
  };
}

function lastOf({ last_attempt: last }: webhooks.Webhook): string {
  if (!last) return "never";
  return `${last.ok ? "ok" : "failed"}${last.status === undefined ? "" : ` (${last.status})`} ${last.at}`;
}

export async function create(label: string, { format, ...options }: CreateOptions): Promise<Outcome> {
  const { url, event, language } = options;
  if (url === undefined || !event)
    throw new UsageError("give --url and --event, such as --event server.ready,server.crashed");
  const answer = await connect(options).create({
    ...{ label, events: event, language: languageOf(language) ?? "en" },
    url: await addressOf(url),
    format: oneOf(webhooks.WebhookFormat, format, "format"),
  });
  const { webhook, secret } = answer;
  const lines = [`${webhook.id} sends to ${webhook.host}.`];
  if (secret !== undefined)
    lines.push(`${secret}\n`, "This is the only time that the secret is shown; it checks the signatures.");
  lines.push(`Try it with: ${hint(options.data, `webhook test ${webhook.id}${flagOf(options)}`)}`);
  return { json: answer, text: lines.join("\n") };
}

function flagOf({ server }: At): string {
  return server === undefined ? "" : ` --server ${server}`;
}

/** By id, or by a label that one has. */
async function find(wanted: string, options: At): Promise<webhooks.Webhook> {
  const { webhooks: all } = await connect(options).list();
  const found = all.filter(({ id, label }) => id === wanted || label === wanted);
  const [one, another] = found;
  if (one && !another) return one;
  const why = another ? `several webhooks are called ${wanted}; give an id` : `there is no webhook ${wanted}`;
  throw new CommandError(`${why}; list them with: \`svc webhook list${flagOf(options)}\``);
}

export async function set(wanted: string, options: SetOptions): Promise<Outcome> {
  const { label, url, event, language, on = false, off = false } = options;
  if (on && off) throw new UsageError("give --on or --off, not both");
  const before = await find(wanted, options);
  const changed = await connect(options).change({
    id: before.id,
    label: label ?? before.label,
    events: event ?? before.events,
    language: languageOf(language) ?? before.language,
    enabled: on || (!off && before.enabled),
    ...(url !== undefined && { url: await addressOf(url) }),
  });
  const text = `${changed.label} is ${changed.enabled ? "on" : "off"} and sends ${changed.events.join(", ")} to ${changed.host}.`;
  return { json: changed, text };
}

export async function remove(
  wanted: string,
  { yes = false, ...options }: At & { yes?: boolean },
): Promise<Outcome> {
  const { id, label, host } = await find(wanted, options);
  if (!yes) {
    const text = `Would delete ${label}, which sends to ${host}, with its deliveries. Add --yes to do it.`;
    return { json: { id, deleted: false }, text };
  }
  await connect(options).remove(id);
  return { json: { id, deleted: true }, text: `${label} is deleted, with its deliveries.` };
}

export async function rotate(wanted: string, options: At): Promise<Outcome> {
  const { id } = await find(wanted, options);
  const answer = await connect(options).rotate(id);
  const text = [
    `${answer.secret}\n`,
    "This is the only time that the secret is shown.",
    `Deliveries are signed with the one before too until ${answer.old_secret_until}.`,
  ].join("\n");
  return { json: answer, text };
}

/** Waits until the ping was delivered or failed once. */
export async function test(wanted: string, options: At): Promise<Outcome> {
  const { id, label, host } = await find(wanted, options);
  const hooks = connect(options);
  const sent = await hooks.test(id);
  const endAt = Date.now() + testWithinMs;
  for (;;) {
    const { deliveries } = await hooks.deliveries({ id, limit: 50, offset: 0 });
    const ping = deliveries.find((one) => one.id === sent.id) ?? sent;
    if (ping.state === "delivered")
      return { json: ping, text: `${label} took the test: ${host} answered ${ping.status}.` };
    if (ping.error !== undefined || ping.state !== "waiting")
      throw new CommandError(`${label} did not take the test: ${ping.error ?? ping.state}`);
    if (Date.now() > endAt) throw new CommandError(`${label} was not tried within 30 s; see its deliveries`);
    await delay(500);
  }
}

export async function listDeliveries(wanted: string, options: DeliveriesOptions): Promise<Outcome> {
  const { id } = await find(wanted, options);
  const state =
    options.state === undefined ? undefined : oneOf(webhooks.DeliveryState, options.state, "state");
  const query = { id, limit: Math.min(100, options.limit), offset: 0, ...(state && { state }) };
  const answer = await connect(options).deliveries(query);
  const rows = answer.deliveries.map((one) => [
    ...[one.id, one.at, one.type, one.server ?? "-", one.state, String(one.attempts)],
    one.error ?? (one.status === undefined ? "" : String(one.status)),
  ]);
  const head = ["ID", "AT", "EVENT", "SERVER", "STATE", "ATTEMPTS", "ANSWER"];
  return { json: answer, text: rows.length === 0 ? "There are none." : table([head, ...rows]) };
}

export async function redeliver(wanted: string, delivery: string, options: At): Promise<Outcome> {
  const { id } = await find(wanted, options);
  const sent = await connect(options).redeliver(id, delivery);
  return { json: sent, text: `${sent.id} (${sent.type}) is sent again.` };
}
