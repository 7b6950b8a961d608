// Silences and acknowledgements: what people say to the watchdog (docs/reference/alerts.md#silence).

import { randomBytes } from "node:crypto";
import { type AlertState, type SilenceState, type WatchdogState, withHistory } from "./state.ts";

const hourMs = 3_600_000;
const mostSilences = 100;

/** `server/*` covers every key that begins with `server/`. */
export function covers(pattern: string, key: string): boolean {
  return pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : key === pattern;
}

type Silenceable = Pick<AlertState, "escalated_at"> & { key: string };

/** The silence of an alert that ends last. One that was made before the alert became critical does not cover it any more. */
export function silenceOf(
  silences: readonly SilenceState[],
  { key, escalated_at = 0 }: Silenceable,
  now: number,
): SilenceState | undefined {
  return silences
    .filter((silence) => silence.until > now && silence.at >= escalated_at && covers(silence.key, key))
    .sort((a, b) => b.until - a.until)[0];
}

export function isSilenced(silences: readonly SilenceState[], alert: Silenceable, now: number): boolean {
  return silenceOf(silences, alert, now) !== undefined;
}

export type NewSilence = { key: string; hours: number; reason: string; by: string };

/** Replaces a silence of the same key. Undefined when there are too many. */
export function addSilence(
  state: WatchdogState,
  { key, hours, reason, by }: NewSilence,
  now: number,
): { state: WatchdogState; silence: SilenceState } | undefined {
  const others = state.silences.filter((one) => one.key !== key && one.until > now);
  if (others.length >= mostSilences) return undefined;
  const id = randomBytes(8).toString("hex");
  const silence = { id, key, until: now + Math.round(hours * hourMs), reason, by, at: now };
  const entry = { at: now, what: "silenced" as const, key, by, note: reason };
  return { silence, state: withHistory({ ...state, silences: [...others, silence] }, [entry]) };
}

/** Undefined when there is no such silence. */
export function removeSilence(
  state: WatchdogState,
  { id, by }: { id: string; by: string },
  now: number,
): WatchdogState | undefined {
  const silence = state.silences.find((one) => one.id === id && one.until > now);
  if (!silence) return undefined;
  const silences = state.silences.filter((one) => one !== silence);
  const entry = { at: now, what: "silence_ended" as const, key: silence.key, by };
  return withHistory({ ...state, silences }, [entry]);
}

/** Undefined when nothing of that key is wrong. */
export function acknowledge(
  state: WatchdogState,
  { key, by, note }: { key: string; by: string; note?: string | undefined },
  now: number,
): WatchdogState | undefined {
  const alert = state.alerts[key];
  if (!alert || alert.cleared_at !== undefined) return undefined;
  const { severity, summary } = alert;
  const acknowledged = { by, at: now, severity, ...(note && { note }) };
  const entry = { at: now, what: "acknowledged" as const, key, severity, summary, by, ...(note && { note }) };
  const alerts = { ...state.alerts, [key]: { ...alert, acknowledged } };
  return withHistory({ ...state, alerts }, [entry]);
}
