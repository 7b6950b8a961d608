// What the watchdog found wrong, and what people do about it (docs/reference/alerts.md#status).
// Vocabulary: finding = what one run of a probe saw; alert = a finding over time; probe = a check of one dependency or fact;
// silence = nothing is sent about matching alerts until a time, unless one becomes critical; acknowledge = somebody works on
// it, no more reminders.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

const base = "/api/v1/platform/alerts";

/** One sentence in each language. */
const Text = z.strictObject({ en: z.string(), zh: z.string() });

export const AlertSeverity = z.enum(["critical", "warning"]);
export type AlertSeverity = z.output<typeof AlertSeverity>;

/** Key of an alert: `<probe>/<what>`, such as `service/storage` or `disk//var/lib/svc`. */
const Key = z.string().min(1).max(300);

export const Alert = z.strictObject({
  key: Key,
  severity: AlertSeverity,
  /** What is wrong. */
  summary: Text,
  /** What to do about it. */
  hint: Text,
  /** `pending`: not for long enough to be sent; `firing`; `resolved`: gone. */
  state: z.enum(["pending", "firing", "resolved"]),
  /** Something that happened once, such as a failed Job; it is sent once and never resolved by a mail. */
  event: z.boolean(),
  /** When it was first seen. */
  since: Timestamp,
  /** When staff were last sent it. */
  notified_at: Timestamp.optional(),
  /** When it was last seen, of one that is gone. */
  resolved_at: Timestamp.optional(),
  /** End of the silence that covers it; absent once it became critical under one. */
  silenced_until: Timestamp.optional(),
  acknowledged: z.strictObject({ by: z.string(), at: Timestamp, note: z.string().optional() }).optional(),
});
export type Alert = z.output<typeof Alert>;

export const AlertSilence = z.strictObject({
  id: z.string(),
  /** An alert's key, the beginning of keys followed by `*`, or `*` for all. */
  key: Key,
  until: Timestamp,
  reason: z.string(),
  by: z.string(),
  at: Timestamp,
});
export type AlertSilence = z.output<typeof AlertSilence>;

/** How a way to reach staff works. */
const Delivery = z.strictObject({
  /**
   * `ok`: the newest delivery arrived; `failing`: it did not; `unused`: nothing was sent yet; `off`: not configured;
   * `held`: the file of `ops_watchdog.quiet_file` holds everything back, or another installation writes off-site.
   */
  state: z.enum(["ok", "failing", "unused", "off", "held"]),
  /** Of the newest delivery. */
  at: Timestamp.optional(),
  error: z.string().optional(),
});

/** Checks of a probe without a verdict: alerts whose key begins with `prefix` keep their state. */
export const UnjudgedCheck = z.strictObject({
  prefix: z.string(),
  reason: z.string(),
  /** False where there is nothing to check, such as a mail relay that is not set up; absent where the check failed. */
  configured: z.literal(false).optional(),
});
export type UnjudgedCheck = z.output<typeof UnjudgedCheck>;

export const AlertStatus = z.strictObject({
  /** When the newest run ended; null before the first. */
  checked_at: Timestamp.nullable(),
  /** No run ended within ten minutes: what follows is out of date. */
  stale: z.boolean(),
  /** Critical first, then by key; pending ones after those that fire. */
  alerts: z.array(Alert),
  /** Newest first; those of the last seven days. */
  resolved: z.array(Alert),
  unknown: z.array(UnjudgedCheck),
  silences: z.array(AlertSilence),
  mail: Delivery.extend({
    /** Verified addresses of enabled owners, as last read from identity. */
    recipients: z.number().int().min(0),
  }),
  heartbeat: Delivery,
  channels: z.array(Delivery.extend({ name: z.string(), format: z.enum(["json", "discord"]) })),
});
export type AlertStatus = z.output<typeof AlertStatus>;

/** One line of the history. */
export const AlertHistoryEntry = z.strictObject({
  at: Timestamp,
  what: z.enum([
    "fired",
    "escalated",
    "reminded",
    "resolved",
    "silenced",
    "silence_ended",
    "acknowledged",
    "delivery_failed",
  ]),
  /** Key of the alert, or what a silence covers; absent where it is about a delivery. */
  key: z.string().optional(),
  severity: AlertSeverity.optional(),
  summary: Text.optional(),
  /** Who silenced or acknowledged it. */
  by: z.string().optional(),
  /** Reason of a silence, note of an acknowledgement, or why a delivery failed. */
  note: z.string().optional(),
  /** `mail`, `heartbeat` or the name of a channel. */
  delivery: z.string().optional(),
});
export type AlertHistoryEntry = z.output<typeof AlertHistoryEntry>;

export const readAlerts = operation({
  subject: "ops-watchdog.alert.read",
  http: { method: "GET", path: base, face: "external", tier: "admin" },
  output: AlertStatus,
  summary:
    "What is wrong now and was lately, which probes could not judge, silences, and whether staff can be reached.",
  spec: "docs/reference/alerts.md#status",
});

export const readAlertHistory = operation({
  subject: "ops-watchdog.alert.read-history",
  http: { method: "GET", path: `${base}/history`, face: "external", tier: "admin" },
  output: z.strictObject({ entries: z.array(AlertHistoryEntry) }),
  summary: "What happened to alerts, newest first; the newest 500 entries.",
  spec: "docs/reference/alerts.md#history",
});

/** What is silenced, for how long and why. */
export const SilenceRequest = z.strictObject({
  key: Key.regex(/^[^*]*\*?$/, "may have a * at its end only"),
  hours: z.number().min(0.25).max(168),
  reason: z.string().trim().min(1).max(200),
});

export const silenceAlerts = operation({
  subject: "ops-watchdog.alert.silence",
  http: { method: "POST", path: `${base}/silence`, face: "external", tier: "admin" },
  body: SilenceRequest.shape,
  output: AlertSilence,
  idempotent: true,
  summary: "Sends nothing about matching alerts for some hours; replaces a silence of the same key.",
  spec: "docs/reference/alerts.md#silence",
});

export const endSilence = operation({
  subject: "ops-watchdog.alert.end-silence",
  http: { method: "POST", path: `${base}/silence/{id}/end`, face: "external", tier: "admin", status: 204 },
  params: { id: z.string().min(1).max(64) },
  output: nothing,
  faults: ["not_found"],
  idempotent: true,
  summary: "Ends a silence before its time.",
  spec: "docs/reference/alerts.md#silence",
});

/** Which alert somebody works on. */
export const AcknowledgeRequest = z.strictObject({ key: Key, note: z.string().trim().max(200).optional() });

export const acknowledgeAlert = operation({
  subject: "ops-watchdog.alert.acknowledge",
  http: { method: "POST", path: `${base}/acknowledge`, face: "external", tier: "admin" },
  body: AcknowledgeRequest.shape,
  output: Alert,
  faults: ["not_found"],
  idempotent: true,
  summary: "Says that somebody works on an alert: no reminders until it is resolved or becomes critical.",
  spec: "docs/reference/alerts.md#acknowledge",
});

export const testAlerts = operation({
  subject: "ops-watchdog.alert.test",
  http: { method: "POST", path: `${base}/test`, face: "external", tier: "admin" },
  output: z.strictObject({
    /** One for `mail` and one for each channel, in this order. */
    deliveries: z.array(z.strictObject({ name: z.string(), ok: z.boolean(), error: z.string().optional() })),
  }),
  faults: ["alert_test_cooldown"],
  deadlineMs: 60_000,
  summary: "Sends a test to the recipients of mails and to every channel, at most once a minute.",
  spec: "docs/reference/alerts.md#test",
});
