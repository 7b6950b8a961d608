// Webhooks: what happened at a server, or on the whole installation, as HTTPS requests to addresses that people choose
// (docs/reference/webhooks.md).
// Vocabulary: receiver = who answers at the address; delivery = one event for one webhook; attempt = one request of a
// delivery; dead = given up after the last attempt; dropped = left out because too many waited.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { languages } from "../language.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import type { MemberRight } from "../right.ts";
import { Timestamp, wholeNumber } from "../text.ts";

/** What happens at servers. */
const serverEventTypes = [
  "server.starting",
  "server.ready",
  "server.stopped",
  "server.failed",
  "server.crashed",
  "server.hung",
  "player.joined",
  "player.left",
  "backup.succeeded",
  "backup.failed",
  "restore.succeeded",
  "restore.failed",
  "schedule.failed",
] as const;
/** Additional event types that only webhooks of the installation can have. */
const platformEventTypes = [
  "alert.firing",
  "alert.resolved",
  "build.succeeded",
  "build.failed",
  "build.cancelled",
] as const;

export const ServerEventType = z.enum(serverEventTypes);
export const PlatformEventType = z.enum([...serverEventTypes, ...platformEventTypes]);
/** `ping` is what a test sends. */
export const WebhookEventType = z.enum([...serverEventTypes, ...platformEventTypes, "ping"]);
export type WebhookEventType = z.output<typeof WebhookEventType>;

/** What a member needs beside `settings` to be told an event: the right of the operation that shows the same. */
export const eventRights: Readonly<Partial<Record<WebhookEventType, MemberRight>>> = {
  "player.joined": "players",
  "player.left": "players",
  "schedule.failed": "schedules",
};

/** `json`: the documented body, signed; the others: messages that these services understand. */
export const WebhookFormat = z.enum(["json", "discord", "slack"]);
export type WebhookFormat = z.output<typeof WebhookFormat>;

export const WebhookOffReason = z.enum([
  /** Somebody switched it off. */
  "by_hand",
  /** The receiver answered 410. */
  "gone",
  /** No delivery has arrived for days. */
  "failing",
  /** Who saved it last has no access to the server any more, or none to what one of its events tells. */
  "access_ended",
  /** The database was restored from a bundle. */
  "restored",
]);
export type WebhookOffReason = z.output<typeof WebhookOffReason>;

export const DeliveryState = z.enum(["waiting", "delivered", "dead", "dropped"]);
export type DeliveryState = z.output<typeof DeliveryState>;

export const Webhook = z.strictObject({
  id: z.string(),
  label: z.string(),
  format: WebhookFormat,
  /** Host of its address, with a port that is not 443; the rest is a secret and never shown. */
  host: z.string(),
  /** Of messages to Discord and Slack. */
  language: z.enum(languages),
  events: z.array(WebhookEventType),
  enabled: z.boolean(),
  /** Only while it is off. */
  off_reason: WebhookOffReason.optional(),
  /** User name of who saved it last, by then. */
  saved_by: z.string(),
  created_at: Timestamp,
  /** After a rotation: until then each delivery is also signed with the secret before. */
  old_secret_until: Timestamp.optional(),
  /** Deliveries that wait, and that were given up, among those that are kept. */
  waiting: z.int(),
  dead: z.int(),
  /** The newest attempt of any of them. */
  last_attempt: z.strictObject({ at: Timestamp, ok: z.boolean(), status: z.int().optional() }).optional(),
});
export type Webhook = z.output<typeof Webhook>;

/** Why an attempt failed (docs/reference/webhooks.md#failures). */
export const DeliveryFailure = z.enum([
  "bad_url",
  "no_address",
  "private_address",
  "refused",
  "unreachable",
  "timeout",
  "closed",
  "certificate_expired",
  "certificate_not_yet_valid",
  "certificate_name",
  "certificate_self_signed",
  "certificate_untrusted",
  "certificate_invalid",
  "tls_version",
  "tls_port",
  "tls_closed",
  "tls_client_certificate",
  "tls_refused",
  "connection",
  "status",
  "redirect",
  "too_many_waiting",
  "event_removed",
]);
export type DeliveryFailure = z.output<typeof DeliveryFailure>;

export const Delivery = z.strictObject({
  /** The same in each attempt; receivers drop what they have had. */
  id: z.string(),
  /** The same for all webhooks that get the event. */
  event_id: z.string(),
  type: WebhookEventType,
  /** Absent of what is not about a server. */
  server: z.string().optional(),
  state: DeliveryState,
  /** When it happened. */
  at: Timestamp,
  attempts: z.int(),
  attempted_at: Timestamp.optional(),
  /** When the next attempt may be made, of one that waits. */
  next_attempt_at: Timestamp.optional(),
  /** Of the newest attempt; absent when no answer came. */
  status: z.int().optional(),
  /** Why the newest attempt failed, in words. */
  error: z.string().optional(),
  /** The same as a code; absent of attempts that an older release made. */
  failure: DeliveryFailure.optional(),
  /** The beginning of the newest answer, at most 1 KiB, printable; absent for whom the event may not be told. */
  response: z.string().optional(),
  duration_ms: z.int().optional(),
});
export type Delivery = z.output<typeof Delivery>;

/** Characters of an address, a label; webhooks of a server and of the installation. */
const longestUrl = 2_000;
const id = z.string().min(1).max(64);
const label = z.string().trim().min(1).max(64);
const url = z.string().trim().min(1).max(longestUrl);
const language = z.enum(languages);

const common = { face: "external" } as const;
const spec = "docs/reference/webhooks.md#operations";

type Events = typeof ServerEventType | typeof PlatformEventType;

/** One kind of webhook: of a server, or of the installation. */
type Kind<S extends "webhook" | "platform-webhook", P extends z.ZodRawShape, E extends Events> = {
  noun: S;
  path: string;
  params: P;
  events: E;
  http: { tier: "app"; memberRights: readonly ["settings"] } | { tier: "admin" };
  /** Faults of a path with the name of a server. */
  here: readonly ("bad_name" | "not_found")[];
  what: string;
};

/** The operations that make and change webhooks of a kind. */
function management<S extends "webhook" | "platform-webhook", P extends z.ZodRawShape, E extends Events>(
  of: Kind<S, P, E>,
) {
  const { noun, path, params, here, what } = of;
  const one = `${path}/{id}`;
  const http = { ...common, ...of.http };
  const events = z.array(of.events).min(1).max(32);
  const found = [...here, "webhook_not_found"] as const;
  const which = { ...params, id };
  return {
    list: operation({
      subject: `ops-watchdog.${noun}.list`,
      http: { ...http, method: "GET", path },
      params,
      output: z.strictObject({ webhooks: z.array(Webhook), limit: z.int() }),
      faults: here,
      summary: `Webhooks of ${what}, with how their deliveries go.`,
      spec,
    }),
    create: operation({
      subject: `ops-watchdog.${noun}.create`,
      http: { ...http, method: "POST", path, status: 201, holdsSecrets: true },
      params,
      body: { label, url, events, format: WebhookFormat.default("json"), language: language.default("en") },
      output: z.strictObject({
        webhook: Webhook,
        /** Only of the format `json`, and only in this answer. */
        secret: z.string().optional(),
      }),
      faults: [...here, "bad_webhook_url", "webhook_limit"],
      onceById: true,
      summary: `Adds a webhook of ${what}; the answer is the only one that has its secret.`,
      spec,
    }),
    change: operation({
      subject: `ops-watchdog.${noun}.change`,
      http: { ...http, method: "PUT", path: one },
      params: which,
      /** All of it is replaced, but an address that is absent stays. */
      body: { label, events, language, enabled: z.boolean(), url: url.optional() },
      output: Webhook,
      faults: [...found, "bad_webhook_url"],
      onceById: true,
      summary: "Changes a webhook, switches it off or on again.",
      spec,
    }),
    remove: operation({
      subject: `ops-watchdog.${noun}.remove`,
      http: { ...http, method: "DELETE", path: one, status: 204 },
      params: which,
      output: nothing,
      faults: found,
      onceById: true,
      summary: "Deletes a webhook with its deliveries.",
      spec,
    }),
  };
}

/** The operations on one webhook of a kind, and on its deliveries. */
function use<S extends "webhook" | "platform-webhook", P extends z.ZodRawShape, E extends Events>(
  of: Kind<S, P, E>,
) {
  const { noun, path, params, here } = of;
  const one = `${path}/{id}`;
  const http = { ...common, ...of.http };
  const found = [...here, "webhook_not_found"] as const;
  const which = { ...params, id };
  return {
    rotate: operation({
      subject: `ops-watchdog.${noun}.rotate`,
      http: { ...http, method: "POST", path: `${one}/rotate`, holdsSecrets: true },
      params: which,
      output: z.strictObject({ secret: z.string(), old_secret_until: Timestamp }),
      faults: [...found, "webhook_unsigned"],
      onceById: true,
      summary: "Makes a new secret; for a day deliveries are signed with the one before too.",
      spec: "docs/reference/webhooks.md#signature",
    }),
    test: operation({
      subject: `ops-watchdog.${noun}.test`,
      http: { ...http, method: "POST", path: `${one}/test`, status: 202 },
      params: which,
      output: Delivery,
      faults: [...found, "webhook_off", "webhook_test_cooldown"],
      onceById: true,
      summary: "Sends a ping; its delivery shows how that went.",
      spec: "docs/reference/webhooks.md#test",
    }),
    listDeliveries: operation({
      subject: `ops-watchdog.${noun}.list-deliveries`,
      http: { ...http, method: "GET", path: `${one}/deliveries` },
      params: which,
      query: {
        state: DeliveryState.optional(),
        limit: wholeNumber(1, 100).default(50),
        offset: wholeNumber(0, 10_000).default(0),
      },
      output: z.strictObject({ deliveries: z.array(Delivery), total: z.int() }),
      faults: found,
      summary: "Deliveries of a webhook, the newest first; all, or those in one state.",
      spec: "docs/reference/webhooks.md#deliveries",
    }),
    redeliver: operation({
      subject: `ops-watchdog.${noun}.redeliver`,
      http: { ...http, method: "POST", path: `${one}/deliveries/{delivery}/redeliver`, status: 202 },
      params: { ...which, delivery: id },
      output: Delivery,
      faults: [...found, "delivery_not_found", "webhook_off"],
      onceById: true,
      summary: "Sends one delivery again, with the same id.",
      spec: "docs/reference/webhooks.md#deliveries",
    }),
  };
}

const family = <S extends "webhook" | "platform-webhook", P extends z.ZodRawShape, E extends Events>(
  kind: Kind<S, P, E>,
) => ({ ...management(kind), ...use(kind) });

const ofServer = family({
  noun: "webhook",
  path: "/api/v1/servers/{name}/webhooks",
  params: { name: ServerNameParam },
  events: ServerEventType,
  http: { tier: "app", memberRights: ["settings"] },
  here: ["bad_name", "not_found"],
  what: "a server",
});
const ofPlatform = family({
  noun: "platform-webhook",
  path: "/api/v1/platform/webhooks",
  params: {},
  events: PlatformEventType,
  http: { tier: "admin" },
  here: [],
  what: "the installation",
});

export const { list, create, change, remove, rotate, test, listDeliveries, redeliver } = ofServer;
export const listPlatform = ofPlatform.list;
export const createPlatform = ofPlatform.create;
export const changePlatform = ofPlatform.change;
export const removePlatform = ofPlatform.remove;
export const rotatePlatform = ofPlatform.rotate;
export const testPlatform = ofPlatform.test;
export const listPlatformDeliveries = ofPlatform.listDeliveries;
export const redeliverPlatform = ofPlatform.redeliver;
