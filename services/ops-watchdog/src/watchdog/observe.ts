// What an observation changes in the state: pure (docs/reference/alerts.md#times).
//
// pending --lasts for long enough--> firing --missing for 10 min--> resolved --told--> gone
// An alert that nobody was told of is gone with its finding, and so is an event. Under an unknown prefix nothing changes.

import type { Finding, Observation } from "./finding.ts";
import { isSilenced } from "./silence.ts";
import { type AlertState, type HistoryEntry, type WatchdogState, withHistory } from "./state.ts";

/** How long an alert must be missing before it is resolved. */
export const resolveAfterMs = 600_000;
/** A resolved alert whose notice cannot be delivered for this long is dropped. */
const giveUpAfterMs = 86_400_000;
const keepResolvedMs = 7 * 86_400_000;
const mostResolved = 200;

export function observe(state: WatchdogState, seen: Observation, now: number): WatchdogState {
  const history: HistoryEntry[] = [];
  const found = new Map(seen.findings.map((finding) => [finding.key, finding]));
  const alerts: Record<string, AlertState> = {};
  const resolved: WatchdogState["resolved"] = [];
  for (const [key, alert] of Object.entries(state.alerts)) {
    if (found.has(key)) continue;
    const isUnknown = seen.unknown.some(({ prefix }) => key.startsWith(prefix));
    if (isUnknown) alerts[key] = alert;
    else if (isForgotten(alert)) {
      if (alert.fired_at !== undefined) resolved.push({ key, ...alert, cleared_at: alert.cleared_at ?? now });
    } else alerts[key] = { ...alert, cleared_at: alert.cleared_at ?? now };
  }
  for (const finding of found.values()) {
    const { alert, entry } = seenAgain(state.alerts[finding.key], finding, now);
    alerts[finding.key] = alert;
    if (entry) history.push({ at: now, what: entry, ...facts(finding.key, alert) });
  }
  const ended = state.silences.filter(({ until }) => until <= now);
  for (const { key } of ended) history.push({ at: now, what: "silence_ended", key });
  return withHistory(
    {
      ...state,
      alerts,
      silences: state.silences.filter(({ until }) => until > now),
      resolved: keptResolved([...state.resolved, ...resolved], now),
    },
    history,
  );
}

function facts(key: string, { severity, summary }: AlertState) {
  return { key, severity, summary };
}

function isForgotten(alert: AlertState): boolean {
  return alert.event || Object.keys(alert.sent).length === 0;
}

function seenAgain(
  before: AlertState | undefined,
  finding: Finding,
  now: number,
): { alert: AlertState; entry?: "fired" | "escalated" } {
  const { severity, summary, hint, forMs, event } = finding;
  const given = { severity, summary, hint, for_ms: forMs, event, last_seen: now };
  const { cleared_at: _cleared, ...known } = before ?? { first_seen: now, sent: {} };
  const alert: AlertState = { ...known, ...given };
  const isWorse = before?.severity === "warning" && severity === "critical";
  // Who acknowledged or silenced a warning has not heard of what is critical now.
  if (isWorse) {
    delete alert.acknowledged;
    alert.escalated_at = now;
  }
  if (severity === "warning") delete alert.escalated_at;
  if (alert.fired_at === undefined) {
    // A clock that was set back must not keep an alert from firing.
    if (now < alert.first_seen) alert.first_seen = now;
    if (now - alert.first_seen < forMs) return { alert };
    return { alert: { ...alert, fired_at: now }, entry: "fired" };
  }
  return isWorse ? { alert, entry: "escalated" } : { alert };
}

/**
 * Moves what is over to the resolved ones: missing for ten minutes, and every way in `ways` that was sent it heard of the
 * end, or could not for a day.
 */
export function settle(state: WatchdogState, ways: readonly string[], now: number): WatchdogState {
  const alerts: Record<string, AlertState> = {};
  const over: WatchdogState["resolved"] = [];
  for (const [key, alert] of Object.entries(state.alerts)) {
    const goneMs = alert.cleared_at === undefined ? 0 : now - alert.cleared_at;
    const waits = ways.some((way) => alert.sent[way] !== undefined) && goneMs < giveUpAfterMs;
    const isHeldBack = isSilenced(state.silences, { key, ...alert }, now);
    if (goneMs < resolveAfterMs || waits || (isHeldBack && goneMs < giveUpAfterMs)) alerts[key] = alert;
    else over.push({ key, ...alert });
  }
  if (over.length === 0) return state;
  const history = over.map(({ key, ...alert }) => ({
    at: now,
    what: "resolved" as const,
    ...facts(key, alert),
  }));
  const resolved = keptResolved([...state.resolved, ...over], now);
  return withHistory({ ...state, alerts, resolved }, history);
}

function keptResolved(resolved: WatchdogState["resolved"], now: number): WatchdogState["resolved"] {
  return resolved.filter(({ last_seen }) => now - last_seen < keepResolvedMs).slice(-mostResolved);
}
