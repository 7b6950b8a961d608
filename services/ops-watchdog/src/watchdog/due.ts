// What one way to staff is due: pure (docs/reference/alerts.md#times).

import { resolveAfterMs } from "./observe.ts";
import { isSilenced } from "./silence.ts";
import { type AlertState, type HistoryEntry, type WatchdogState, withHistory } from "./state.ts";

const remindAfterMs = 86_400_000;

export type DueAlert = AlertState & { key: string };

/** Every list critical first, then by key. */
export type Due = {
  /** Never sent this way, or sent as a warning and critical now. */
  firing: DueAlert[];
  /** Sent this way a day ago. */
  reminders: DueAlert[];
  resolved: DueAlert[];
  /** Sent and still firing; by themselves no reason to send anything. */
  others: DueAlert[];
};

type Kind = keyof Due;

export function decideDue(state: WatchdogState, way: string, now: number): Due {
  const due: Due = { firing: [], reminders: [], resolved: [], others: [] };
  for (const [key, alert] of Object.entries(state.alerts)) {
    const kind = isSilenced(state.silences, { key, ...alert }, now) ? undefined : kindOf(alert, way, now);
    if (kind) due[kind].push({ key, ...alert });
  }
  for (const list of Object.values(due)) list.sort(byUrgency);
  return due;
}

function kindOf(alert: AlertState, way: string, now: number): Kind | undefined {
  const sent = alert.sent[way];
  if (alert.cleared_at !== undefined)
    return sent && !alert.event && now - alert.cleared_at >= resolveAfterMs ? "resolved" : undefined;
  if (alert.fired_at === undefined) return undefined;
  if (!sent || (alert.severity === "critical" && sent.severity === "warning")) return "firing";
  if (alert.event) return undefined;
  if (alert.acknowledged) return "others";
  // Sent in the future: the clock was set back.
  return Math.abs(now - sent.at) >= remindAfterMs ? "reminders" : "others";
}

export function isAnythingDue({ firing, reminders, resolved }: Due): boolean {
  return firing.length + reminders.length + resolved.length > 0;
}

/** Sorts critical alerts first, then by key. */
export function byUrgency(a: DueAlert, b: DueAlert): number {
  if (a.severity !== b.severity) return a.severity === "critical" ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/** Records what a way was sent, after it was delivered. The alerts are those of now: others may have changed meanwhile. */
export function markSent(
  state: WatchdogState,
  { way, due }: { way: string; due: Due },
  now: number,
): WatchdogState {
  const alerts = { ...state.alerts };
  const history: HistoryEntry[] = [];
  const change = (key: string, to: (alert: AlertState) => AlertState) => {
    const alert = alerts[key];
    if (alert) alerts[key] = to(alert);
  };
  for (const { key, severity } of [...due.firing, ...due.reminders])
    change(key, (alert) => ({ ...alert, sent: { ...alert.sent, [way]: { at: now, severity } } }));
  for (const { key, severity, summary, reminded_at } of due.reminders) {
    // One entry a day, however many are reminded.
    if (reminded_at !== undefined && now - reminded_at < remindAfterMs / 2) continue;
    change(key, (alert) => ({ ...alert, reminded_at: now }));
    history.push({ at: now, what: "reminded", key, severity, summary });
  }
  for (const { key } of due.resolved)
    change(key, (alert) => {
      const { [way]: _told, ...sent } = alert.sent;
      return { ...alert, sent };
    });
  return withHistory({ ...state, alerts }, history);
}

const firstPauseMs = 120_000;
export const longestPauseMs = 3_600_000;

/** How a delivery went. After a failure the pause doubles up to an hour; the first failure is in the history. */
export function markAttempt(
  state: WatchdogState,
  { way, error }: { way: string; error: string | undefined },
  now: number,
): WatchdogState {
  const failures = error === undefined ? 0 : (state.ways[way]?.failures ?? 0) + 1;
  const pauseMs = Math.min(firstPauseMs * 2 ** Math.max(0, failures - 2), longestPauseMs);
  const next_at = failures <= 1 ? now : now + pauseMs;
  const attempt = {
    at: now,
    ok: error === undefined,
    failures,
    next_at,
    ...(error !== undefined && { error }),
  };
  const next = { ...state, ways: { ...state.ways, [way]: attempt } };
  if (failures !== 1) return next;
  const delivery = way.startsWith("mail:") ? "mail" : way.replace(/^channel:/, "");
  return withHistory(next, [{ at: now, what: "delivery_failed", delivery, note: error ?? "" }]);
}
