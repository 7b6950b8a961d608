// `svc db wal` and `svc db at` (docs/reference/database-backups.md#point-in-time).

import { resolve } from "node:path";
import { findPostgresProgram } from "@svc/local-stack";
import { callerDir, postgresFolder } from "../config.ts";
import { type Outcome, sizeText, table } from "../output.ts";
import { momentOf } from "../time.ts";
import { countsText } from "./bundles.ts";
import { databaseVariables } from "./environment.ts";
import { askWatchdog } from "./watchdog.ts";

type Archive = {
  dir: string;
  enabled: boolean;
  size_bytes: number;
  runs: {
    name: string;
    reason: string;
    covered?: { from: string; until: string };
    bases: unknown[];
  }[];
  problems: string[];
  stale?: string;
};

export async function showArchive({ data }: { data: string }): Promise<Outcome> {
  const archive = await askWatchdog<Archive>(databaseVariables(data), { do: "wal-status" });
  const rows = archive.runs.map(({ name, covered, bases, reason }) => [
    name,
    covered?.from ?? "nothing yet",
    covered?.until ?? "",
    String(bases.length),
    reason,
  ]);
  const lines = [
    ...(rows.length > 0 ? [table([["RUN", "FROM", "UNTIL", "BASES", "BEGAN AS"], ...rows])] : []),
    `${archive.dir}: ${sizeText(archive.size_bytes)}. The archive is ${archive.enabled ? "on" : "off (ops_watchdog.wal_archive)"}.`,
    ...(archive.stale === undefined ? [] : [`It is stale: ${archive.stale}.`]),
    ...archive.problems.map((problem) => `BAD  ${problem}`),
  ];
  const isGood = archive.stale === undefined && archive.problems.length === 0;
  return { json: archive, text: lines.join("\n"), exitCode: isGood ? 0 : 1 };
}

type Where = { data: string; from?: string; scratch?: string };
type Recovered = {
  name: string;
  path: string;
  at: string;
  base: string;
  skipped: string[];
  size_bytes: number;
  counts: { accounts: number; servers: number; rows: number };
  servers_error?: string;
};

/** Makes a bundle of the state at a time; the living database is not touched. */
export async function recoverAt(time: string, option: string, where: Where): Promise<Recovered> {
  const { data, from, scratch } = where;
  const at = momentOf(time, option);
  const program = await findPostgresProgram(postgresFolder());
  return askWatchdog<Recovered>(databaseVariables(data), {
    do: "recover",
    at: at.toISOString(),
    program,
    ...(from !== undefined && { from: resolve(callerDir, from) }),
    ...(scratch !== undefined && { scratch: resolve(callerDir, scratch) }),
  });
}

export async function recover(time: string, where: Where): Promise<Outcome> {
  const done = await recoverAt(time, "time", where);
  const lines = [
    `${done.path}: the state of ${done.at}, ${countsText(done.counts)}, ${sizeText(done.size_bytes)}.`,
    ...done.skipped.map((problem) => `Skipped a damaged base backup: ${problem}.`),
    ...(done.servers_error === undefined ? [] : [`It lacks the server objects: ${done.servers_error}.`]),
    `svc db restore ${done.name} puts it in place.`,
  ];
  return { json: done, text: lines.join("\n") };
}
