// PostgreSQL, and what ops-watchdog itself records in it: rehearsals and update reports.

import { setTimeout as delay } from "node:timers/promises";
import { openStore, type Store } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import { sql } from "kysely";
import { findLastRehearsed, findNewestDaily, findNewestRehearsal } from "../../bundle/records.ts";
import type { Tables, WatchdogDb } from "../../database.ts";
import { newestReport } from "../../update/report.ts";
import { type Finding, finding } from "../finding.ts";
import { NotConfiguredError, type Probe } from "./probe.ts";
import { reachable } from "./reachable.ts";

const hourMs = 3_600_000;
const clockOffMs = 10_000;
const closeWithinMs = 500;

/** Two connections for all probes of a run, opened by the first that asks: one that hangs leaves the other to the rest. */
export function openRunDatabase(url: string): { database: () => WatchdogDb; close: () => Promise<void> } {
  let store: Store<Tables> | undefined;
  return {
    database: () => {
      if (url === "") throw new NotConfiguredError("no database is configured");
      const log = createLogger("ops-watchdog", "silent");
      store ??= openStore<Tables>({ url, schema: "ops_watchdog", poolSize: 2, log });
      return store.db;
    },
    close: async () => {
      // A server that hangs does not say goodbye.
      const late = delay(closeWithinMs, undefined, { ref: false });
      await Promise.race([store?.close().catch(() => undefined), late]);
    },
  };
}

async function readClock(db: WatchdogDb): Promise<number> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
  return rows[0]?.at.getTime() ?? 0;
}

export const postgresql = reachable("postgresql", {
  reach: ({ database }) => readClock(database()),
  wrong: (why) =>
    finding(
      {
        ...{ key: "postgresql", severity: "critical", forMinutes: 3 },
        hint: {
          en: "Start PostgreSQL and look at its log and its disk.",
          zh: "请启动 PostgreSQL，并检查其日志和磁盘。",
        },
      },
      { en: "The database does not answer: {why}", zh: "数据库没有应答：{why}" },
      { why },
    ),
});

/** The clock of this machine against that of the database. */
export const clock: Probe = {
  prefixes: ["clock"],
  look: async ({ database }) => {
    const before = Date.now();
    const there = await readClock(database());
    const offMs = there - (before + Date.now()) / 2;
    if (Math.abs(offMs) < clockOffMs) return { findings: [] };
    return {
      findings: [
        finding(
          {
            ...{ key: "clock", severity: "warning", forMinutes: 30 },
            hint: {
              en: "Turn on time synchronisation (chrony or systemd-timesyncd) on both machines.",
              zh: "请在两台机器上启用时间同步（chrony 或 systemd-timesyncd）。",
            },
          },
          {
            en: "The clocks of the database and of this machine differ by {seconds} s.",
            zh: "数据库与本机的时钟相差 {seconds} 秒。",
          },
          { seconds: Math.round(Math.abs(offMs) / 1_000) },
        ),
      ],
    };
  },
};

/** The weekly rehearsal; nothing while it is switched off or there is no bundle yet. */
export const rehearsals: Probe = {
  prefixes: ["db-rehearsal/"],
  look: async (context) => {
    const { rehearsal_every: everyMs } = context.settings.ops_watchdog;
    if (everyMs === 0) throw new NotConfiguredError("ops_watchdog.rehearsal_every is 0s");
    const [newest, success, bundle] = await Promise.all([
      findNewestRehearsal(context.database()),
      findLastRehearsed(context.database()),
      findNewestDaily(context.database()),
    ]);
    const hint = {
      en: "`svc db rehearse` restores the newest bundle on trial and says why it fails.",
      zh: "`svc db rehearse` 会试恢复最新的备份包并说明失败原因。",
    };
    const findings: Finding[] = [];
    if (newest && !newest.succeeded)
      findings.push(
        finding(
          { key: "db-rehearsal/failed", severity: "critical", hint },
          {
            en: "The rehearsed restore of {bundle} failed: {why}",
            zh: "备份包 {bundle} 的恢复演练失败：{why}",
          },
          { bundle: newest.bundle, why: newest.error ?? "" },
        ),
      );
    const isStale =
      bundle && context.now - (success?.getTime() ?? bundle.taken_at.getTime()) > everyMs + 48 * hourMs;
    if (isStale)
      findings.push(
        finding(
          { key: "db-rehearsal/stale", severity: "warning", forMinutes: 60, hint },
          {
            en: "No database bundle has been restored on trial for {days} days.",
            zh: "已有 {days} 天没有试恢复过数据库备份包。",
          },
          { days: Math.round((everyMs + 48 * hourMs) / (24 * hourMs)) },
        ),
      );
    return { findings };
  },
};

export const updateReport: Probe = {
  prefixes: ["update-report"],
  look: async (context) => {
    const { report_max_age: maxAgeMs } = context.settings.ops_watchdog;
    const report = await newestReport(context.database());
    if (report && context.now - Date.parse(report.checked_at) <= maxAgeMs) return { findings: [] };
    return {
      findings: [
        finding(
          {
            ...{ key: "update-report", severity: "warning", forMinutes: 60 },
            hint: {
              en: "`svc update --record` makes one; the log of ops-watchdog says why it fails.",
              zh: "`svc update --record` 会生成一份；失败原因见 ops-watchdog 的日志。",
            },
          },
          report
            ? {
                en: "Updates have not been checked for more than {hours} hours.",
                zh: "已超过 {hours} 小时没有检查更新。",
              }
            : { en: "Updates have not been checked yet.", zh: "尚未检查过更新。" },
          { hours: Math.round(maxAgeMs / hourMs) },
        ),
      ],
    };
  },
};
