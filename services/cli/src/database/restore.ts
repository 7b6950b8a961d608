// `svc db restore|rehearse|apply-servers` (docs/reference/database-backups.md#restore).

import { createInterface } from "node:readline/promises";
import { migrateEnvironment } from "../config.ts";
import { printable } from "../file/printable.ts";
import { type Outcome, planned, UsageError } from "../output.ts";
import { bundlePath, countsText } from "./bundles.ts";
import { databaseVariables } from "./environment.ts";
import { recoverAt } from "./point-in-time.ts";
import { restartServices } from "./restart-services.ts";
import { grantReading } from "./rights.ts";
import { askWatchdog } from "./watchdog.ts";

type RestoreOptions = {
  data: string;
  json?: boolean;
  yes?: boolean;
  force?: boolean;
  safetyBackup: boolean;
  to?: string;
};
type Plan = {
  path: string;
  bundle: string;
  taken_at: string;
  /** The time whose state it holds, where that is another one. */
  recovered_to?: string;
  counts: { accounts: number; servers: number; rows: number };
  target: { host: string; database: string };
  has_data: boolean;
  staff: { username: string; role: string; now?: "unknown" | "disabled" | "not staff" }[];
};
type Restored = {
  bundle: string;
  rows: number;
  safetyBundle?: string;
  stayDisabled: string[];
  noLongerStaff: string[];
};
export type Differences = { without_object: string[]; without_row: string[] };

export async function restore(bundle: string | undefined, options: RestoreOptions): Promise<Outcome> {
  const path = await chooseBundle(bundle, options);
  const env = databaseVariables(options.data);
  const plan = await askWatchdog<Plan>(env, { do: "plan-restore", bundle: path });
  const text = planText(plan, options);
  if (!options.yes && !(await isConfirmed(text, plan.target.database, options.json)))
    return { ...planned(plan, text), exitCode: 2 };
  const done = await askWatchdog<Restored>(env, {
    do: "restore",
    bundle: path,
    force: options.force ?? false,
    safety: options.safetyBackup,
  });
  const { adminUrl } = migrateEnvironment(env);
  if (adminUrl) await grantReading(adminUrl, env);
  // Before lifecycle runs again: it makes a row, without an owner, for each object that has none.
  const differences = await askWatchdog<Differences>(env, { do: "differences" }).catch(
    (error: Error) => error.message,
  );
  const { count: restarted, waiting } = await restartServices(options.data, adminUrl);
  const lines = [
    `Restored ${done.rows} rows of ${done.bundle}. All sessions, codes and tickets have ended.`,
    ...(done.safetyBundle === undefined ? [] : [`What was there before is in ${done.safetyBundle}.`]),
    ...keptLines(done),
    restarted > 0
      ? `${restarted} services of the local stack were restarted.`
      : "Restart every service and gateway now: their caches are from the previous database.",
    ...(waiting.length === 0 ? [] : [`Not ready yet: ${waiting.join(", ")}; svc status shows their logs.`]),
    ...differenceLines(differences),
  ];
  return { json: { ...done, differences, restarted, not_ready: waiting }, text: lines.join("\n") };
}

/** The one that is named, or a new one of the state at a time. */
async function chooseBundle(bundle: string | undefined, { to, data }: RestoreOptions): Promise<string> {
  if ((bundle === undefined) === (to === undefined))
    throw new UsageError("name a bundle, or a time with --to; svc db list and svc db wal show what there is");
  if (bundle !== undefined) return bundlePath(bundle);
  return (await recoverAt(to ?? "", "--to", { data })).name;
}

function planText(plan: Plan, options: RestoreOptions): string {
  const { target, bundle, taken_at, recovered_to, counts, has_data } = plan;
  const state = recovered_to === undefined ? "" : `, with the state of ${recovered_to}`;
  const first = has_data
    ? options.safetyBackup
      ? "It has data: a pre-restore bundle is taken first."
      : "It has data, and no pre-restore bundle is taken (--no-safety-backup): what it has now is lost."
    : "It has no data.";
  return [
    `Target: database ${target.database} on ${target.host}. ${first}`,
    `Bundle: ${bundle} of ${taken_at}${state}, ${countsText(counts)}; it was read to the last row.`,
    "Services cannot sign in meanwhile and their connections end; all rows are replaced in one transaction;",
    "streams and views are rebuilt; all sessions, codes and tickets end. Objects of the cluster stay as they are.",
    staffText(plan.staff),
    ...(options.to === undefined
      ? []
      : [
          `The bundle was made for this and stays: svc db restore ${bundle} takes it without making it again.`,
        ]),
  ].join("\n");
}

function staffText(staff: Plan["staff"]): string {
  if (staff.length === 0) return "Staff of the bundle: nobody.";
  const listed = staff.map(({ username, role, now }) => {
    const before = now === undefined ? "" : `, now ${now === "unknown" ? "not here" : now}`;
    return `${printable(username)} (${role}${before})`;
  });
  return `Staff of the bundle: ${listed.join(", ")}. Each can sign in as such, but an admin who is disabled or not staff now stays so.`;
}

/** What an older bundle would have opened again. */
function keptLines({ stayDisabled, noLongerStaff }: Restored): string[] {
  const listed = (names: readonly string[]) => names.map(printable).join(", ");
  return [
    ...(stayDisabled.length === 0
      ? []
      : [`Disabled, as before: ${listed(stayDisabled)}; svc user enable undoes it.`]),
    ...(noLongerStaff.length === 0 ? [] : [`No longer staff, as before: ${listed(noLongerStaff)}.`]),
  ];
}

/** Asks a person for the name of the database; without a terminal nobody confirms. */
async function isConfirmed(text: string, name: string, json = false): Promise<boolean> {
  if (json || !process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (
      (await terminal.question(`${text}\nType the name of the database to restore it: `)).trim() === name
    );
  } finally {
    terminal.close();
  }
}

/** Where rows and cluster differ, in words; empty when they agree. */
export function differenceLines(differences: Differences | string): string[] {
  if (typeof differences === "string")
    return [`The servers of the cluster cannot be compared: ${differences}`];
  const { without_object, without_row } = differences;
  return [
    ...(without_object.length === 0
      ? []
      : [
          `Servers without an object in the cluster: ${without_object.join(", ")}; svc db apply-servers makes them.`,
        ]),
    ...(without_row.length === 0
      ? []
      : [`Objects of the cluster without a server in the database: ${without_row.join(", ")}.`]),
  ];
}

type Rehearsed = { bundle: string; rows: number; durationMs: number; error?: string };

export async function rehearse(bundle: string | undefined, { data }: { data: string }): Promise<Outcome> {
  const about = bundle === undefined ? {} : { bundle: bundlePath(bundle) };
  const result = await askWatchdog<Rehearsed>(databaseVariables(data), { do: "rehearse", ...about });
  const seconds = (result.durationMs / 1_000).toFixed(1);
  return result.error === undefined
    ? {
        json: result,
        text: `${result.bundle}: ${result.rows} rows restored, counted and checked in ${seconds} s.`,
      }
    : { json: result, text: `${result.bundle} cannot be restored: ${result.error}`, exitCode: 1 };
}

type Applied = { missing: { name: string; from: string }[]; lost: string[]; made: string[] };

export async function applyServers(
  bundle: string | undefined,
  { data, yes = false }: { data: string; yes?: boolean },
): Promise<Outcome> {
  const about = bundle === undefined ? {} : { bundle: bundlePath(bundle) };
  const answer = await askWatchdog<Applied>(databaseVariables(data), {
    do: "apply-servers",
    apply: yes,
    ...about,
  });
  const { missing, lost, made } = answer;
  const note = lost.length === 0 ? [] : [`In no bundle, so not created: ${lost.join(", ")}.`];
  const listed = missing.map(({ name, from }) => `${name} (${from})`).join(", ");
  const done = yes ? [`Created, stopped: ${made.join(", ")}.`] : [`To create, stopped: ${listed}.`];
  const text = [
    ...(missing.length === 0 ? ["No server of a bundle is missing in the cluster."] : done),
    ...note,
  ].join("\n");
  if (missing.length > 0 && !yes) return planned(answer, text);
  return { json: answer, text, exitCode: lost.length === 0 ? 0 : 1 };
}
