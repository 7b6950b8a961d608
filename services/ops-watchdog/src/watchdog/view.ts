// The state as people see it (docs/reference/alerts.md#status): the only mapper.

import type { alerts } from "@svc/proto";
import type { RelaySettings } from "@svc/smtp";
import type { WatchdogSettings } from "../config.ts";
import { byUrgency } from "./due.ts";
import { silenceOf } from "./silence.ts";
import type { AlertState, SilenceState, WatchdogState } from "./state.ts";

const staleAfterMs = 600_000;

type ViewFacts = {
  settings: Pick<WatchdogSettings, "channels" | "heartbeat_url_file">;
  relay: RelaySettings | undefined;
  /** Everything is held back. */
  isHeld: boolean;
  now: number;
};

const utc = (at: number) => new Date(at).toISOString();

export function toStatus(state: WatchdogState, facts: ViewFacts): alerts.AlertStatus {
  const { now } = facts;
  const live = Object.entries(state.alerts).map(([key, alert]) => ({ key, ...alert }));
  const firing = live.filter(({ fired_at }) => fired_at !== undefined).sort(byUrgency);
  const pending = live.filter(({ fired_at }) => fired_at === undefined).sort(byUrgency);
  const view = (alert: AlertState & { key: string }) => toAlert(alert, state.silences, now);
  return {
    checked_at: state.checked_at === undefined ? null : utc(state.checked_at),
    stale: state.checked_at === undefined || now - state.checked_at > staleAfterMs,
    alerts: [...firing, ...pending].map(view),
    resolved: state.resolved.toReversed().map((alert) => ({ ...view(alert), state: "resolved" as const })),
    unknown: state.unknown,
    silences: state.silences.filter(({ until }) => until > now).map(toSilence),
    ...toDeliveries(state, facts),
  };
}

export function toAlert(
  alert: AlertState & { key: string },
  silences: readonly SilenceState[],
  now: number,
): alerts.Alert {
  const { key, severity, summary, hint, event, first_seen, acknowledged } = alert;
  const sent = Object.values(alert.sent).map(({ at }) => at);
  const silence = silenceOf(silences, alert, now);
  return {
    ...{ key, severity, summary, hint, event },
    state: alert.fired_at === undefined ? "pending" : "firing",
    since: utc(first_seen),
    ...(sent.length > 0 && { notified_at: utc(Math.max(...sent)) }),
    ...(alert.cleared_at !== undefined && { resolved_at: utc(alert.cleared_at) }),
    ...(silence && { silenced_until: utc(silence.until) }),
    ...(acknowledged && {
      acknowledged: {
        by: acknowledged.by,
        at: utc(acknowledged.at),
        ...(acknowledged.note !== undefined && { note: acknowledged.note }),
      },
    }),
  };
}

export function toSilence({ id, key, until, reason, by, at }: SilenceState): alerts.AlertSilence {
  return { id, key, until: utc(until), reason, by, at: utc(at) };
}

type Delivery = Pick<alerts.AlertStatus["heartbeat"], "state" | "at" | "error">;

function toDeliveries(
  state: WatchdogState,
  { settings, relay, isHeld }: ViewFacts,
): Pick<alerts.AlertStatus, "mail" | "heartbeat" | "channels"> {
  const attempts = (prefix: string) =>
    Object.entries(state.ways).flatMap(([id, way]) => (id.startsWith(prefix) ? [way] : []));
  const delivery = (
    isOn: boolean,
    all: readonly { at: number; ok: boolean; error?: string | undefined }[],
  ): Delivery => {
    if (!isOn) return { state: "off" };
    // One recipient who cannot be reached is worth showing.
    const [newest] = all.toSorted((a, b) => Number(a.ok) - Number(b.ok) || b.at - a.at);
    if (isHeld) return { state: "held" };
    if (!newest) return { state: "unused" };
    const { at, ok, error } = newest;
    return { state: ok ? "ok" : "failing", at: utc(at), ...(error !== undefined && { error }) };
  };
  return {
    mail: { ...delivery(relay !== undefined, attempts("mail:")), recipients: state.recipients.length },
    heartbeat: delivery(settings.heartbeat_url_file !== "", state.heartbeat ? [state.heartbeat] : []),
    channels: settings.channels.map(({ name, format }) => ({
      ...{ name, format },
      ...delivery(true, attempts(`channel:${name}`)),
    })),
  };
}

/** Newest first. */
export function toHistory({ history }: WatchdogState): alerts.AlertHistoryEntry[] {
  return history.toReversed().map((entry) => ({ ...entry, at: utc(entry.at) }));
}
