// `svc db …` on bundles (docs/reference/database-backups.md#commands).

import { resolve } from "node:path";
import { callerDir } from "../config.ts";
import { type Outcome, sizeText, table } from "../output.ts";
import { databaseVariables } from "./environment.ts";
import { askWatchdog } from "./watchdog.ts";

type Options = { data: string };
type Counts = { accounts: number; servers: number; rows: number };
export type Taken = {
  name: string;
  path: string;
  size_bytes: number;
  counts: Counts;
  server_objects?: number;
  servers_error?: string;
  /** Why a dump could not be made where there is a `pg_dump`. */
  dump_error?: string;
  deleted: string[];
};
type Listed = {
  dir: string;
  bundles: {
    name: string;
    label: string;
    at: string;
    size_bytes: number;
    counts?: Counts;
    servers_error?: string;
    problem?: string;
  }[];
};

export async function backUp({ data, label }: Options & { label: string }): Promise<Outcome> {
  const taken = await askWatchdog<Taken>(databaseVariables(data), { do: "back-up", label });
  const lacks =
    taken.servers_error === undefined ? [] : [`It lacks the server objects: ${taken.servers_error}.`];
  const noDump = taken.dump_error === undefined ? [] : [`It lacks db.dump: ${taken.dump_error}.`];
  const gone = taken.deleted.map((name) => `Deleted ${name}.`);
  return {
    json: taken,
    text: [
      `${taken.path}: ${countsText(taken.counts)}, ${sizeText(taken.size_bytes)}.`,
      ...lacks,
      ...noDump,
      ...gone,
    ].join("\n"),
    exitCode: taken.servers_error === undefined ? 0 : 1,
  };
}

export async function listBundles({ data }: Options): Promise<Outcome> {
  const listed = await askWatchdog<Listed>(databaseVariables(data), { do: "list" });
  const rows = listed.bundles.map((one) => [
    one.name,
    sizeText(one.size_bytes),
    one.counts ? String(one.counts.rows) : "",
    one.problem ?? one.servers_error ?? "",
  ]);
  const text =
    rows.length > 0 ? table([["BUNDLE", "SIZE", "ROWS", "NOTE"], ...rows]) : `No bundles in ${listed.dir}.`;
  return { json: listed, text };
}

type Verification = {
  path: string;
  ok: boolean;
  counts?: Counts;
  problem?: string;
  not_recorded?: string;
};

export async function verify(bundle: string | undefined, { data }: Options): Promise<Outcome> {
  const about = bundle === undefined ? {} : { bundle: bundlePath(bundle) };
  const answer = await askWatchdog<{ dir: string; results: Verification[] }>(databaseVariables(data), {
    do: "verify",
    ...about,
  });
  const lines = answer.results.flatMap(({ path, ok, counts, problem, not_recorded }) => [
    ok && counts ? `ok   ${path}: ${countsText(counts)}` : `BAD  ${path}: ${problem}`,
    ...(not_recorded === undefined ? [] : [`     The result is not recorded: ${not_recorded}.`]),
  ]);
  const isGood = answer.results.every(({ ok }) => ok);
  return {
    json: answer,
    text: lines.length > 0 ? lines.join("\n") : `No bundles in ${answer.dir}.`,
    exitCode: isGood ? 0 : 1,
  };
}

type Checked = {
  stale: boolean;
  max_age_seconds: number;
  daily?: { name: string; at: string };
  newest?: string;
  problem?: string;
  servers_error?: string;
};

export async function check({ data }: Options): Promise<Outcome> {
  const checked = await askWatchdog<Checked>(databaseVariables(data), { do: "check" });
  const hours = checked.max_age_seconds / 3_600;
  const daily = checked.daily
    ? `The newest daily bundle is of ${checked.daily.at}.`
    : "There is no daily bundle.";
  const lines = [
    daily,
    ...(checked.stale && checked.daily ? [`That is more than ${hours} hours ago.`] : []),
    ...(checked.problem === undefined ? [] : [`${checked.newest} cannot be used: ${checked.problem}.`]),
    ...(checked.servers_error === undefined ? [] : [`${checked.newest}: ${checked.servers_error}.`]),
  ];
  const isGood = !checked.stale && checked.problem === undefined && checked.servers_error === undefined;
  return { json: checked, text: lines.join("\n"), exitCode: isGood ? 0 : 1 };
}

/** A bare name is one of the folder of bundles; anything else is a path of the caller. */
export function bundlePath(bundle: string): string {
  return bundle.includes("/") ? resolve(callerDir, bundle) : bundle;
}

export function countsText({ accounts, servers, rows }: Counts): string {
  return `${accounts} accounts, ${servers} servers, ${rows} rows`;
}
