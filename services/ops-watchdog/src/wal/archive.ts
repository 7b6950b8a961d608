// Keeps the archive of the log: one process at a time receives it, takes base backups and deletes what is no longer kept.
// The replication slot is temporary: one that stays when its receiver is away fills the disk of the database. A gap is noticed
// instead, and a new run begins with a base backup of its own.

import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type pg from "pg";
import { syncPath, writeDurably } from "../bundle/durable.ts";
import { connect } from "../bundle/snapshot.ts";
import type { WatchdogSettings } from "../config.ts";
import { decideRun, isBaseDue } from "./decide.ts";
import { isUsable, namesIn, type Run, type RunFile, readArchive, stampOf } from "./folder.ts";
import { formatLsn, parseLsn, segmentStart } from "./lsn.ts";
import { receive, resumeAt } from "./receive.ts";
import { connectReplication, type Identity, identify, reserveLog } from "./replication.ts";
import { decideWalDeletions } from "./retention.ts";
import { DivergedError } from "./segment-writer.ts";
import { askServer, sweepBases, takeBase } from "./take-base.ts";

export type ArchiveDeps = {
  settings: Pick<WatchdogSettings, "wal_dir" | "wal_keep" | "base_backup_every" | "bundle_retry">;
  url: string;
  replicationUrl: string;
  log: Logger;
  now: () => number;
  onReceived: (until: Date) => void;
  /** Called before each step; tests stop the process there. */
  step?: (name: string) => void;
  /** Pause after a session that ended; tests do not wait for it. */
  retryMs?: number;
  /** How often the server is asked where its log ends, at most once a second; tests do not wait for it. */
  markMs?: number;
};

export function startArchive(deps: ArchiveDeps): { close: () => Promise<void> } {
  const { log, retryMs = 10_000 } = deps;
  return startLoop((signal) => runSession(deps, signal), {
    everyMs: retryMs,
    onError: (error) =>
      log.warn({ error: error.message }, "the log of the database is not archived; retrying"),
  });
}

/** One connection to the server, until it ends. Returns at once while another process archives. */
async function runSession(deps: ArchiveDeps, outer: AbortSignal): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([outer, ending.signal]);
  const sql = await connect(deps.url, "svc-wal-lock");
  sql.once("end", () => ending.abort());
  try {
    const { rows } = await sql.query<{ held: boolean }>(
      "select pg_try_advisory_lock(hashtext('svc_wal_archive')) as held",
    );
    if (!rows[0]?.held) return;
    await archive(deps, sql, { signal, ending });
  } finally {
    ending.abort();
    // Not awaited: a server that hangs does not say goodbye.
    sql.end().catch(() => undefined);
  }
}

type Session = { signal: AbortSignal; ending: AbortController };

async function archive(deps: ArchiveDeps, sql: pg.Client, { signal, ending }: Session): Promise<void> {
  const { settings, log, step = () => undefined, onReceived } = deps;
  await askServer(sql);
  const client = await connectReplication(deps.replicationUrl);
  let bases: Promise<void> | undefined;
  try {
    const identity = await identify(client);
    const slot = await reserveLog(client);
    await mkdir(settings.wal_dir, { recursive: true, mode: 0o700 });
    const { runs, problems } = await readArchive(settings.wal_dir);
    for (const problem of problems) log.error({ problem }, "a part of the archive of the log cannot be used");
    const run = await chooseRun(deps, runs.at(-1), identity);
    const from = resumeAt(run, parseLsn(run.about.from));
    bases = keepBases({ ...deps, step }, sql, { run, signal }).catch((error: Error) => {
      if (!signal.aborted) log.error({ error: error.message }, "base backups of the archive stopped");
      ending.abort();
    });
    try {
      return await receive({
        ...{ client, run, from, slot, signal, step, markMs: deps.markMs ?? 5_000 },
        askMark: () => askMark(sql),
        onReceived: ({ until }) => onReceived(until),
      });
    } catch (error) {
      const reason = reasonForNewRun(error as Error);
      if (reason !== undefined && !signal.aborted) await beginRun(deps, await identifyAgain(deps), reason);
      throw error;
    }
  } finally {
    ending.abort();
    await bases;
    client.end().catch(() => undefined);
  }
}

/** Undefined for what the next session mends. The server has two codes for a segment that it no longer has. */
function reasonForNewRun(error: Error): string | undefined {
  if (error instanceof DivergedError) return error.message;
  return /segment [0-9A-F]{24} has already been removed/.test(error.message)
    ? `gap: ${error.message}`
    : undefined;
}

async function identifyAgain({ replicationUrl }: ArchiveDeps): Promise<Identity> {
  const client = await connectReplication(replicationUrl);
  try {
    return await identify(client);
  } finally {
    client.end().catch(() => undefined);
  }
}

async function askMark(sql: pg.Client): Promise<{ at: Date; lsn: bigint }> {
  const { rows } = await sql.query<{ at: Date; lsn: string }>(
    "select clock_timestamp() as at, pg_current_wal_flush_lsn()::text as lsn",
  );
  if (!rows[0]) throw new Error("the database does not say where its log ends");
  return { at: rows[0].at, lsn: parseLsn(rows[0].lsn) };
}

async function chooseRun(deps: ArchiveDeps, newest: Run | undefined, identity: Identity): Promise<Run> {
  const decision = decideRun(newest && { ...newest.about, end: endOf(newest) }, identity);
  if (decision.kind === "continue" && newest) return newest;
  return beginRun(deps, identity, decision.kind === "begin" ? decision.reason : "");
}

/** What is received for certain: whole segments, and the open one as far as it was recorded. */
function endOf(run: Run): bigint {
  const whole = resumeAt(run, parseLsn(run.about.from));
  return run.received && run.received.lsn > whole ? run.received.lsn : whole;
}

async function beginRun(
  { settings, log, now }: ArchiveDeps,
  identity: Identity,
  reason: string,
): Promise<Run> {
  const at = new Date(now());
  const about: RunFile = {
    system: identity.system,
    timeline: identity.timeline,
    started_at: at.toISOString(),
    from: formatLsn(segmentStart(identity.position)),
    reason,
  };
  const name = `run-${stampOf(at)}`;
  const path = join(settings.wal_dir, name);
  await mkdir(path, { mode: 0o700 });
  await writeDurably(join(path, "run.json"), JSON.stringify(about));
  await syncPath(path);
  await syncPath(settings.wal_dir);
  log.warn({ run: name, reason }, "a new run of the archive begins");
  return { name, path, about, segments: [], partial: undefined, received: undefined, bases: [] };
}

type BaseDeps = ArchiveDeps & { step: (name: string) => void };

const lookEveryMs = 2_000;
const firstRetryMs = 60_000;

/** Takes a base backup when one is due and applies the rule of retention, until the session ends. */
async function keepBases(
  deps: BaseDeps,
  sql: pg.Client,
  { run, signal }: { run: Run; signal: AbortSignal },
): Promise<void> {
  const { settings, log, now, replicationUrl, step } = deps;
  let lastBase = run.bases.at(-1)?.endedAt.getTime();
  let failedAt: number | undefined;
  let sweptAt = 0;
  await sweepBases(run.path);
  for (; !signal.aborted; await delay(lookEveryMs, undefined, { signal }).catch(() => undefined)) {
    const retryMs = lastBase === undefined ? firstRetryMs : settings.bundle_retry;
    const facts = { now: now(), everyMs: settings.base_backup_every, lastBase, failedAt, retryMs };
    if (isBaseDue(facts)) {
      try {
        const { timeline } = run.about;
        const name = await takeBase({ sql, replicationUrl, timeline, dir: run.path, signal, step });
        lastBase = now();
        failedAt = undefined;
        log.info({ run: run.name, base: name }, "base backup taken");
      } catch (error) {
        if (signal.aborted) return;
        failedAt = now();
        log.error({ error: (error as Error).message }, "base backup failed; retrying");
      }
    } else if (now() - sweptAt < settings.bundle_retry) continue;
    sweptAt = now();
    await sweep(deps).catch((error: Error) =>
      log.error({ error: error.message }, "the archive could not be cleared of what is no longer kept"),
    );
  }
}

/** Deletes what the rule names and nothing else. A name goes before its content, so that nothing half deleted counts. */
async function sweep({ settings, now, step, log }: BaseDeps): Promise<void> {
  const dir = settings.wal_dir;
  const { runs, problems } = await readArchive(dir);
  // A part that cannot be read may be the one that matters.
  if (problems.length > 0) return;
  const kept = runs.map((run) => ({
    name: run.name,
    startedAt: new Date(run.about.started_at),
    segments: run.segments,
    bases: run.bases.map((base) => ({
      name: base.name,
      endedAt: base.endedAt,
      start: parseLsn(base.about.start),
      isUsable: isUsable(run, base),
    })),
  }));
  const gone = decideWalDeletions({ runs: kept, now: new Date(now()), keepMs: settings.wal_keep });
  const remove = async (path: string) => {
    step("wal-delete");
    await rm(path, { recursive: true, force: true });
  };
  for (const { run, name } of gone.bases) {
    // The name of what a killed process left: the next session sweeps it.
    const hidden = join(dir, run, `.${name}.partial`);
    step("wal-delete");
    await rename(join(dir, run, name), hidden);
    await remove(hidden);
    log.info({ run, base: name }, "base backup deleted: newer ones cover what is kept");
  }
  for (const { run, name } of gone.segments) {
    await remove(join(dir, run, "wal", name));
    await remove(join(dir, run, "wal", `${name}.sha256`));
  }
  for (const run of gone.runs) {
    // run.json is the last: a run that is half deleted is named, and goes the next time.
    for (const name of await namesIn(join(dir, run)))
      if (name !== "run.json") await remove(join(dir, run, name));
    await remove(join(dir, run));
    log.info({ run }, "run of the archive deleted: newer ones cover what is kept");
  }
}
