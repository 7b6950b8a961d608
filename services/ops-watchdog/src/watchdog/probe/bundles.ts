// Database bundles as the folder has them: known without a database (docs/reference/database-backups.md#status).

import { type Found, listBundles } from "../../bundle/folder.ts";
import { isStale } from "../../bundle/status.ts";
import type { WatchdogSettings } from "../../config.ts";
import { coverageOf, readArchive } from "../../wal/folder.ts";
import { staleness } from "../../wal/status.ts";
import { type Finding, finding } from "../finding.ts";
import type { Probe } from "./probe.ts";

const hourMs = 3_600_000;

export const bundles: Probe = {
  prefixes: ["db-backup/"],
  withinMs: 60_000,
  look: async ({ settings, now }) => {
    const { bundle_dir, bundle_max_age } = settings.ops_watchdog;
    const findings = judgeBundles(await listBundles(bundle_dir), { maxAgeMs: bundle_max_age, now });
    return { findings: [...findings, ...(await judgeArchive(settings.ops_watchdog, now))] };
  },
};

export function judgeBundles(
  found: readonly Found[],
  { maxAgeMs, now }: { maxAgeMs: number; now: number },
): Finding[] {
  const whole = found.filter(({ problem }) => problem === undefined);
  const daily = whole.find(({ label }) => label === "daily");
  const [newest] = whole;
  return [
    ...(isStale(daily?.takenAt, maxAgeMs, now) ? [stale(maxAgeMs, daily !== undefined)] : []),
    ...(newest?.manifest?.servers_error !== undefined
      ? [incomplete(newest.name, newest.manifest.servers_error)]
      : []),
    ...found.flatMap(({ name, problem }) => (problem === undefined ? [] : [damaged(name, problem)])),
  ];
}

/** The archive of the write-ahead log, where it is on. */
async function judgeArchive(
  { wal_archive, wal_dir, wal_max_age }: WatchdogSettings,
  now: number,
): Promise<Finding[]> {
  if (!wal_archive) return [];
  const { runs, problems } = await readArchive(wal_dir);
  const newest = runs.at(-1);
  const covered = newest && coverageOf(newest);
  const why = staleness(covered?.until, { maxAgeMs: wal_max_age, now }) ?? problems[0];
  return why === undefined ? [] : [unarchived(why)];
}

function unarchived(why: string): Finding {
  return finding(
    {
      ...{ key: "db-backup/wal", severity: "warning", forMinutes: 10 },
      hint: {
        en: "`svc db wal` shows what is covered; the log of ops-watchdog says why.",
        zh: "`svc db wal` 显示可恢复的时间范围；原因见 ops-watchdog 的日志。",
      },
    },
    {
      en: "The database cannot be restored to a point in time of now: {why}",
      zh: "数据库当前无法恢复到指定时间点：{why}",
    },
    { why },
  );
}

function stale(maxAgeMs: number, hasDaily: boolean): Finding {
  return finding(
    {
      ...{ key: "db-backup/stale", severity: "critical", forMinutes: 10 },
      hint: {
        en: "`svc db backup --label daily` takes one; the log of ops-watchdog says why it fails.",
        zh: "`svc db backup --label daily` 会立即备份；失败原因见 ops-watchdog 的日志。",
      },
    },
    hasDaily
      ? {
          en: "The newest daily database bundle is older than {hours} hours.",
          zh: "最新的每日数据库备份包已超过 {hours} 小时。",
        }
      : { en: "There is no whole daily database bundle.", zh: "没有完好的每日数据库备份包。" },
    { hours: Math.round(maxAgeMs / hourMs) },
  );
}

function incomplete(name: string, why: string): Finding {
  return finding(
    {
      ...{ key: "db-backup/incomplete", severity: "warning" },
      hint: {
        en: "Check that the cluster answers, then take another: `svc db backup`.",
        zh: "请确认集群可以应答，然后重新备份：`svc db backup`。",
      },
    },
    {
      en: "The newest database bundle {name} lacks the server objects: {why}",
      zh: "最新的数据库备份包 {name} 缺少服务器对象：{why}",
    },
    { name, why },
  );
}

function damaged(name: string, why: string): Finding {
  return finding(
    {
      ...{ key: `db-backup/damaged/${name}`, severity: "warning", forMinutes: 10 },
      hint: {
        en: "Check the disk; put a whole copy in its place, or delete it once newer whole ones exist.",
        zh: "请检查磁盘；换上完好的副本，或在有更新的完好备份后将其删除。",
      },
    },
    { en: "The database bundle {name} cannot be used: {why}", zh: "数据库备份包 {name} 无法使用：{why}" },
    { name, why },
  );
}
