// The periodic tasks: when each is due, and what its answer means.

import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { Logger } from "@svc/telemetry";
import { z } from "zod";
import { findDue } from "../bundle/finding.ts";
import { findLastRehearsed, findNewestDaily } from "../bundle/records.ts";
import type { OffsiteSettings, WatchdogSettings } from "../config.ts";
import type { WatchdogDb } from "../database.ts";
import type { Command } from "../host/command.ts";
import { findPasses } from "../offsite/report.ts";
import { readVerification } from "../offsite/verification.ts";
import { newestReport } from "../update/report.ts";
import { isDailyDue, isIntervalDue, isPassDue } from "./due.ts";

export type TaskDeps = {
  db: WatchdogDb;
  url: string;
  settings: WatchdogSettings;
  offsite: OffsiteSettings;
  now: () => number;
  log: Logger;
};

export type Task = {
  name: string;
  /** The command to run now; undefined when nothing is due. `lastAttempt` is that of this process. */
  findCommand: (lastAttempt: number | undefined) => Promise<Command | undefined>;
  /** Throws when the answer says that the task failed. */
  readAnswer?: (answer: unknown) => void;
  /** Success leaves more to do: only a failure is followed by a pause. */
  hasMore?: boolean;
  /** It may take hours: the others go on meanwhile. */
  isLong?: boolean;
};

export function tasksOf(deps: TaskDeps): Task[] {
  return [
    dailyBundle(deps),
    rehearsal(deps),
    verification(deps),
    updateReport(deps),
    ...(deps.offsite.bucket === "" ? [] : [offsiteSync(deps), offsiteVerification(deps)]),
    ...(deps.offsite.bucket !== "" && deps.settings.wal_archive ? [offsiteWal(deps)] : []),
  ];
}

function dailyBundle({ db, settings, url, now }: TaskDeps): Task {
  const jitterMs = jitterOf(url, settings.bundle_jitter);
  return {
    name: "daily-bundle",
    findCommand: async (lastAttempt) => {
      const lastSuccess = (await findNewestDaily(db))?.taken_at.getTime();
      const facts = { now: now(), at: settings.bundle_at, retryMs: settings.bundle_retry };
      const isDue = isDailyDue({ ...facts, jitterMs, lastSuccess, lastAttempt });
      return isDue ? { do: "back-up", label: "daily" } : undefined;
    },
  };
}

/** What a rehearsal answers when the bundle cannot be restored. */
const Failure = z.object({ error: z.string().optional() });

function rehearsal({ db, settings, now }: TaskDeps): Task {
  return {
    name: "rehearsal",
    findCommand: async (lastAttempt) => {
      if (!(await findNewestDaily(db))) return undefined;
      const lastSuccess = (await findLastRehearsed(db))?.getTime();
      const facts = { now: now(), everyMs: settings.rehearsal_every, retryMs: settings.bundle_retry };
      return isIntervalDue({ ...facts, lastSuccess, lastAttempt }) ? { do: "rehearse" } : undefined;
    },
    readAnswer: (answer) => {
      const error = Failure.safeParse(answer).data?.error;
      if (error !== undefined) throw new Error(error);
    },
  };
}

const Verified = z.object({
  results: z.array(
    z.object({ path: z.string(), problem: z.string().optional(), not_recorded: z.string().optional() }),
  ),
});

/** One bundle a round, so that the others wait for no more than one. Damage is a result, not a failure. */
function verification({ settings, now, log }: TaskDeps): Task {
  const { bundle_dir, bundle_retry, verify_every } = settings;
  return {
    name: "verification",
    hasMore: true,
    findCommand: async (lastAttempt) => {
      const lastSuccess = undefined;
      const facts = { now: now(), everyMs: verify_every, retryMs: bundle_retry };
      if (!isIntervalDue({ ...facts, lastSuccess, lastAttempt })) return undefined;
      const bundle = await findDue(bundle_dir, facts);
      return bundle === undefined ? undefined : { do: "verify", bundle };
    },
    readAnswer: (answer) => {
      for (const { path, problem, not_recorded } of Verified.parse(answer).results) {
        if (problem !== undefined)
          log.error({ bundle: basename(path), problem }, "database bundle is damaged");
        if (not_recorded !== undefined) throw new Error(not_recorded);
      }
    },
  };
}

function updateReport({ db, settings, now }: TaskDeps): Task {
  return {
    name: "update-report",
    findCommand: async (lastAttempt) => {
      const report = await newestReport(db);
      const lastSuccess = report && Date.parse(report.checked_at);
      const facts = { now: now(), at: settings.update_at, retryMs: settings.bundle_retry };
      const isDue = isDailyDue({ ...facts, jitterMs: 0, lastSuccess, lastAttempt });
      return isDue ? { do: "check-updates", record: true } : undefined;
    },
  };
}

const PassState = z.object({ state: z.string(), report: z.object({ error: z.string().optional() }) });

function offsiteSync({ db, offsite, url, now }: TaskDeps): Task {
  const jitterMs = jitterOf(url, offsite.sync_jitter);
  return {
    name: "offsite-sync",
    isLong: true,
    findCommand: async (lastAttempt) => {
      const last = (await findPasses(db)).last?.started_at.getTime();
      const facts = { now: now(), lastPass: last, lastAttempt, everyMs: offsite.sync_every, jitterMs };
      return isPassDue(facts) ? { do: "offsite-sync" } : undefined;
    },
    readAnswer: readPassAnswer,
  };
}

function readPassAnswer(answer: unknown): void {
  const { state, report } = PassState.parse(answer);
  if (state !== "completed" && state !== "standby")
    throw new Error(report.error ?? "some objects were not copied; `svc offsite status` names them");
}

/** Between two passes: it bounds how much of the log is lost with the machine. */
function offsiteWal({ offsite, now }: TaskDeps): Task {
  return {
    name: "offsite-wal",
    isLong: true,
    findCommand: async (lastAttempt) => {
      const facts = { now: now(), everyMs: offsite.wal_every, retryMs: offsite.wal_every };
      const isDue = isIntervalDue({ ...facts, lastSuccess: undefined, lastAttempt });
      return isDue ? { do: "offsite-sync-wal" } : undefined;
    },
    readAnswer: readPassAnswer,
  };
}

const Opened = z.object({
  damaged: z.array(z.object({ key: z.string(), problem: z.string(), repaired: z.boolean() })),
  unread: z.array(z.object({ key: z.string(), problem: z.string() })),
  wrong_key: z.string().optional(),
});

function offsiteVerification({ offsite, settings, now, log }: TaskDeps): Task {
  return {
    name: "offsite-verification",
    isLong: true,
    findCommand: async (lastAttempt) => {
      const lastSuccess = Date.parse((await readVerification(offsite.state_dir))?.at ?? "") || undefined;
      const facts = { now: now(), everyMs: offsite.verify_every, retryMs: settings.bundle_retry };
      const isDue = isIntervalDue({ ...facts, lastSuccess, lastAttempt });
      return isDue ? { do: "offsite-verify", sample: offsite.verify_sample } : undefined;
    },
    readAnswer: (answer) => {
      const { damaged, unread, wrong_key } = Opened.parse(answer);
      if (wrong_key !== undefined) log.error({ problem: wrong_key }, "off-site copies cannot be verified");
      for (const { key, problem, repaired } of damaged)
        log.error({ key, problem, repaired }, "off-site copy is damaged");
      for (const { key, problem } of unread) log.warn({ key, problem }, "off-site copy cannot be read");
    },
  };
}

/** The same for all replicas of an installation, which have one database. */
function jitterOf(url: string, most: number): number {
  const { host, pathname } = new URL(url);
  const number = createHash("sha256").update(`${host}${pathname}`).digest().readUInt32BE(0);
  return Math.floor((number / 2 ** 32) * most);
}
