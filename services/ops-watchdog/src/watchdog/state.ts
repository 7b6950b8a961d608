// What the watchdog remembers between runs (docs/reference/alerts.md#state). It is one JSON file, so that it is known while
// every database is down.

import { alerts, notices } from "@svc/proto";
import { z } from "zod";

const at = z.number().int().min(0);
const Text = z.strictObject({ en: z.string(), zh: z.string() });

const AlertState = z.strictObject({
  severity: alerts.AlertSeverity,
  summary: Text,
  hint: Text,
  for_ms: z.number().min(0),
  event: z.boolean(),
  first_seen: at,
  last_seen: at,
  /** When it had lasted for long enough. */
  fired_at: at.optional(),
  /** When it became critical, of one that was a warning before. */
  escalated_at: at.optional(),
  /** When it was first missing. */
  cleared_at: at.optional(),
  reminded_at: at.optional(),
  /** What each way was sent last: a recipient (`mail:<address>`) or a channel (`channel:<name>`). */
  sent: z.record(z.string(), z.strictObject({ at, severity: alerts.AlertSeverity })),
  acknowledged: z
    .strictObject({ by: z.string(), at, note: z.string().optional(), severity: alerts.AlertSeverity })
    .optional(),
});
export type AlertState = z.output<typeof AlertState>;

const Way = z.strictObject({
  /** Of the newest attempt. */
  at,
  ok: z.boolean(),
  error: z.string().optional(),
  /** Failures since the last success, and when the next attempt may be made. */
  failures: z.number().int().min(0),
  next_at: at,
});

const Silence = z.strictObject({
  ...{ id: z.string(), key: z.string(), until: at, reason: z.string(), by: z.string(), at },
});
export type SilenceState = z.output<typeof Silence>;

const Standby = z.strictObject({
  writer: z.string(),
  /** When it was last at work there. */
  ran_at: at,
  /** This installation wrote to the bucket before. */
  was_writer: z.boolean(),
});
export type StandbyState = z.output<typeof Standby>;

const HistoryEntry = alerts.AlertHistoryEntry.extend({ at });
export type HistoryEntry = z.output<typeof HistoryEntry>;

export const WatchdogState = z.strictObject({
  version: z.literal(1),
  /** Grows with each write: of two copies the higher one is newer. */
  revision: z.number().int().min(0),
  checked_at: at.optional(),
  alerts: z.record(z.string(), AlertState),
  resolved: z.array(AlertState.extend({ key: z.string() })),
  silences: z.array(Silence),
  /** Newest last. */
  history: z.array(HistoryEntry),
  unknown: z.array(alerts.UnjudgedCheck),
  recipients: z.array(notices.StaffRecipient),
  ways: z.record(z.string(), Way),
  heartbeat: z.strictObject({ at, ok: z.boolean(), error: z.string().optional() }).optional(),
  /** Counters of other processes at the last run, to see them grow. */
  counters: z.record(z.string(), z.number()),
  tested_at: at.optional(),
  /** The installation that writes to the off-site bucket in place of this one. */
  standby: Standby.optional(),
});
export type WatchdogState = z.output<typeof WatchdogState>;

export function emptyState(): WatchdogState {
  return {
    ...{ version: 1, revision: 0, alerts: {}, resolved: [], silences: [], history: [], unknown: [] },
    ...{ recipients: [], ways: {}, counters: {} },
  };
}

const mostHistory = 500;

/** With entries at the end of the history; the oldest go. */
export function withHistory(state: WatchdogState, entries: readonly HistoryEntry[]): WatchdogState {
  if (entries.length === 0) return state;
  return { ...state, history: [...state.history, ...entries].slice(-mostHistory) };
}
