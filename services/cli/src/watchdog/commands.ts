// `svc watchdog` and `svc alerts` (docs/reference/alerts.md#commands). They work on the watchdog's own state, so that they need
// neither NATS nor the database.

import type { alerts } from "@svc/proto";
import { environment, operatorNatsUrl } from "../config.ts";
import { databaseVariables } from "../database/environment.ts";
import { askWatchdog } from "../database/watchdog.ts";
import { type Outcome, table } from "../output.ts";
import type { Common } from "../program.ts";
import { readStackFile } from "../stack-file.ts";

export type SilenceOptions = Common & { hours: number; reason: string };
export type AcknowledgeOptions = Common & { note?: string };

type Report = {
  findings: { key: string; severity: string; summary: { en: string } }[];
  unknown: alerts.UnjudgedCheck[];
  delivered: string[];
  failed: { way: string; error: string }[];
  unheard: string[];
  state: "saved" | "copied" | "lost" | "not_written";
  held: keyof typeof heldWords | null;
  heartbeat: string;
};

const heldWords = {
  quiet_file: "The quiet file holds everything back.",
  standby: "Another installation writes to the off-site bucket and sends the alerts; this one stands by.",
} as const;

/** As the person at the host: that name stands beside what it silences. */
const by = "host";

export async function watch({ data, dryRun = false }: Common & { dryRun?: boolean }): Promise<Outcome> {
  const report = await askWatchdog<Report>(meshVariables(data), { do: "watch", dry_run: dryRun });
  const { findings, unknown, delivered, failed, unheard, state, held } = report;
  const text = [
    findings.length === 0
      ? "Nothing is wrong."
      : table([
          ["SEVERITY", "KEY", "WHAT"],
          ...findings.map(({ severity, key, summary }) => [severity, key, summary.en]),
        ]),
    ...unjudgedTables(unknown),
    ...(held === null ? [] : [heldWords[held]]),
    ...delivered.map((way) => `${dryRun ? "Would be sent" : "Sent"}: ${way}`),
    ...failed.map(({ way, error }) => `Not delivered: ${way}: ${error}`),
    ...(unheard.length === 0 ? [] : [`Delivered to nobody: ${unheard.join(", ")}`]),
    ...(state === "copied" ? ["The state is kept in memory: its folder cannot be written."] : []),
    ...(state === "lost" ? ["The state cannot be saved; nothing was sent."] : []),
  ].join("\n\n");
  const hasFailed = !dryRun && (unheard.length > 0 || failed.length > 0 || state === "lost");
  return { json: report, text, exitCode: hasFailed ? 1 : 0 };
}

export async function listAlerts({ data }: Common): Promise<Outcome> {
  const env = watchdogVariables(data);
  const status = await askWatchdog<alerts.AlertStatus>(env, { do: "list-alerts", history: false });
  const firing = status.alerts.filter(({ state }) => state === "firing");
  const text = [
    ...(status.stale
      ? [
          status.checked_at === null
            ? "The watchdog has not run yet."
            : `The watchdog last ran at ${status.checked_at}; what follows is out of date.`,
        ]
      : []),
    ...(status.alerts.length > 0 ? [alertTable(status.alerts)] : []),
    ...(status.alerts.length === 0 && status.checked_at !== null ? ["Nothing is wrong."] : []),
    ...unjudgedTables(status.unknown),
    ...(status.silences.length === 0 ? [] : [silenceTable(status.silences)]),
    deliveryTable(status),
  ].join("\n\n");
  return { json: status, text, exitCode: status.stale || firing.length > 0 ? 1 : 0 };
}

function alertTable(list: readonly alerts.Alert[]): string {
  const rows = list.map(({ key, severity, state, since, summary, silenced_until, acknowledged }) => [
    severity,
    silenced_until === undefined ? state : `silenced until ${silenced_until.slice(0, 16)}`,
    since.slice(0, 16),
    key,
    `${summary.en}${acknowledged ? ` (acknowledged by ${acknowledged.by})` : ""}`,
  ]);
  return table([["SEVERITY", "STATE", "SINCE", "KEY", "WHAT"], ...rows]);
}

/** What somebody has to look into, apart from what was never set up. */
export function unjudgedTables(unknown: readonly alerts.UnjudgedCheck[]): string[] {
  const tableOf = (title: string, isConfigured: boolean) => {
    const rows = unknown.filter(({ configured = true }) => configured === isConfigured);
    return rows.length === 0
      ? []
      : [table([[title, "WHY"], ...rows.map(({ prefix, reason }) => [prefix, reason])])];
  };
  return [...tableOf("CANNOT JUDGE", true), ...tableOf("NOT SET UP", false)];
}

function silenceTable(silences: readonly alerts.AlertSilence[]): string {
  const rows = silences.map(({ id, key, until, by: who, reason }) => [
    id,
    key,
    until.slice(0, 16),
    who,
    reason,
  ]);
  return table([["SILENCE", "KEY", "UNTIL", "BY", "REASON"], ...rows]);
}

function deliveryTable({ mail, heartbeat, channels }: alerts.AlertStatus): string {
  const row = (name: string, { state, at, error }: alerts.AlertStatus["heartbeat"]) => [
    name,
    state,
    at?.slice(0, 16) ?? "",
    error ?? "",
  ];
  return table([
    ["WAY", "STATE", "AT", "ERROR"],
    row(`mail to ${mail.recipients}`, mail),
    row("heartbeat", heartbeat),
    ...channels.map((channel) => row(channel.name, channel)),
  ]);
}

export async function listHistory({ data }: Common): Promise<Outcome> {
  const { entries } = await askWatchdog<{ entries: alerts.AlertHistoryEntry[] }>(watchdogVariables(data), {
    do: "list-alerts",
    history: true,
  });
  const rows = entries.map(({ at, what, key, delivery, by: who, note, summary }) => [
    at.slice(0, 19),
    what,
    key ?? delivery ?? "",
    who ?? "",
    note ?? summary?.en ?? "",
  ]);
  const text =
    rows.length === 0 ? "Nothing has happened." : table([["AT", "WHAT", "KEY", "BY", ""], ...rows]);
  return { json: { entries }, text };
}

export async function silence(key: string, { data, hours, reason }: SilenceOptions): Promise<Outcome> {
  const command = { do: "silence-alerts", key, hours, reason, by };
  const made = await askWatchdog<alerts.AlertSilence>(watchdogVariables(data), command);
  return { json: made, text: `Nothing is sent about ${made.key} until ${made.until} (silence ${made.id}).` };
}

export async function endSilence(id: string, { data }: Common): Promise<Outcome> {
  await askWatchdog<null>(watchdogVariables(data), { do: "end-silence", id, by });
  return { json: { id, ended: true }, text: `The silence ${id} has ended.` };
}

export async function acknowledge(key: string, { data, note }: AcknowledgeOptions): Promise<Outcome> {
  const command = { do: "acknowledge-alert", key, by, ...(note !== undefined && { note }) };
  const alert = await askWatchdog<alerts.Alert>(watchdogVariables(data), command);
  return { json: alert, text: `${alert.key} is acknowledged.` };
}

export async function sendTest({ data }: Common): Promise<Outcome> {
  const { deliveries } = await askWatchdog<{ deliveries: { name: string; ok: boolean; error?: string }[] }>(
    watchdogVariables(data),
    { do: "test-alerts" },
  );
  const rows = deliveries.map(({ name, ok, error }) => [name, ok ? "sent" : "failed", error ?? ""]);
  const text = table([["WAY", "RESULT", "ERROR"], ...rows]);
  return { json: { deliveries }, text, exitCode: deliveries.every(({ ok }) => ok) ? 0 : 1 };
}

/** A container of ops-watchdog has its own variables; otherwise those of the local stack. */
function watchdogVariables(data: string): NodeJS.ProcessEnv {
  const given = environment();
  return given["SVC_NATS_USER"] === "ops-watchdog" ? given : databaseVariables(data);
}

/** With the operator's user of NATS, who may ask the services. */
function meshVariables(data: string): NodeJS.ProcessEnv {
  const env = watchdogVariables(data);
  const given = operatorNatsUrl() ?? findLocalNats(data);
  if (given === undefined || env["SVC_NATS_USER"] === "ops-watchdog") return env;
  const url = new URL(given);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = "";
  url.password = "";
  return { ...env, SVC_NATS_URL: url.href, SVC_NATS_USER: user || "operator", SVC_NATS_PASSWORD: password };
}

function findLocalNats(data: string): string | undefined {
  try {
    return readStackFile(data).nats_url;
  } catch {
    return undefined;
  }
}
