// What storage, builds and identity say of their own work.

import { buildsHealth, identityHealth, storageHealth } from "@svc/proto";
import { type Finding, finding } from "../finding.ts";
import type { Probe } from "./probe.ts";

const hourMs = 3_600_000;
const reaperStaleMs = 26 * hourMs;
const scanDatabaseOldMs = 72 * hourMs;

export const storage: Probe = {
  prefixes: ["world-job/", "reaper/", "backup-store"],
  look: async ({ mesh, now }) => {
    const health = await (await mesh()).call(storageHealth.readStorageHealth, {});
    return { findings: judgeStorage(health, now) };
  },
};

export function judgeStorage(health: storageHealth.StorageHealth, now: number): Finding[] {
  const { failed_jobs, stuck_jobs, reaper, store_full } = health;
  const jobHint = {
    en: "The server's page lists its Jobs with the reason; the log of storage has more.",
    zh: "服务器页面会列出任务及原因；更多信息见 storage 的日志。",
  };
  return [
    ...failed_jobs.map(({ job, server, kind, message }) =>
      finding(
        { key: `world-job/failed/${job}`, severity: "warning", event: true, hint: jobHint },
        kind === "restore"
          ? { en: "A restore of {server} failed: {message}", zh: "{server} 的恢复失败：{message}" }
          : { en: "A backup of {server} failed: {message}", zh: "{server} 的备份失败：{message}" },
        { server, message },
      ),
    ),
    ...stuck_jobs.map(({ job, server }) =>
      finding(
        { key: `world-job/stuck/${job}`, severity: "warning", hint: jobHint },
        {
          en: "The Job {job} has worked on the world of {server} for more than six hours.",
          zh: "任务 {job} 处理 {server} 的世界已超过六小时。",
        },
        { job, server },
      ),
    ),
    ...judgeReaper(reaper, now),
    ...(store_full ? [storeFull()] : []),
  ];
}

function judgeReaper(reaper: storageHealth.StorageHealth["reaper"], now: number): Finding[] {
  const { first_run_at, last_success_at, failed } = reaper;
  const since = last_success_at ?? first_run_at;
  const hint = {
    en: "`svc reaper status` tells what its newest run did; the log of storage says why it fails.",
    zh: "`svc reaper status` 会说明最近一次运行的情况；失败原因见 storage 的日志。",
  };
  const findings: Finding[] = [];
  if (failed)
    findings.push(
      finding(
        { key: `reaper/failed/${failed.id}`, severity: "warning", event: true, hint },
        { en: "A run of the reaper failed: {why}", zh: "reaper 运行失败：{why}" },
        { why: failed.message },
      ),
    );
  if (since !== undefined && now - Date.parse(since) > reaperStaleMs)
    findings.push(
      finding(
        { key: "reaper/stale", severity: "warning", hint },
        {
          en: "No run of the reaper has succeeded for more than 26 hours.",
          zh: "reaper 已超过 26 小时没有成功运行。",
        },
      ),
    );
  return findings;
}

function storeFull(): Finding {
  return finding(
    {
      ...{ key: "backup-store", severity: "warning", forMinutes: 10 },
      hint: {
        en: "Delete or unpin old backups, or raise the size of the store in [archive].",
        zh: "请删除或取消固定旧备份，或在 [archive] 中调大存储上限。",
      },
    },
    {
      en: "The store of backups is full: restore points are not made.",
      zh: "备份存储已满：不再创建还原点。",
    },
  );
}

export const builds: Probe = {
  prefixes: ["builds/"],
  look: async ({ mesh }) => {
    const health = await (await mesh()).call(buildsHealth.readBuildsHealth, {});
    return { findings: judgeBuilds(health) };
  },
};

export function judgeBuilds(health: buildsHealth.BuildsHealth): Finding[] {
  const { failed, newest_failure, newest_scan } = health;
  const findings = judgeFlagged(health);
  if (newest_failure)
    findings.push(
      finding(
        {
          ...{ key: "builds/failing", severity: "warning", forMinutes: 5 },
          hint: {
            en: "The logs of the builds say why; a pack may be wrong, or the registry away.",
            zh: "原因见构建日志：可能是整合包有误，也可能是镜像仓库不可用。",
          },
        },
        {
          en: "{count} builds failed within six hours, the newest with: {why}",
          zh: "六小时内有 {count} 次构建失败，最近一次：{why}",
        },
        { count: failed, why: newest_failure.error },
      ),
    );
  const ageMs = newest_scan ? Date.parse(newest_scan.scanned_at) - Date.parse(newest_scan.database_at) : 0;
  if (ageMs > scanDatabaseOldMs)
    findings.push(
      finding(
        {
          ...{ key: "builds/scan-database", severity: "warning" },
          hint: {
            en: "Update the scanner's image; builds are refused once it is older than registry.scan_db_max_age.",
            zh: "请更新扫描器镜像；超过 registry.scan_db_max_age 后构建将被拒绝。",
          },
        },
        {
          en: "The newest scan used a database of vulnerabilities that was {days} days old.",
          zh: "最近一次扫描使用的漏洞库已有 {days} 天。",
        },
        { days: Math.floor(ageMs / (24 * hourMs)) },
      ),
    );
  return findings;
}

function judgeFlagged({ flagged = 0, first_flagged }: buildsHealth.BuildsHealth): Finding[] {
  if (!first_flagged) return [];
  return [
    finding(
      {
        ...{ key: "builds/flagged", severity: "warning" },
        hint: {
          en: "The page of images names them; update them, or accept what is not a risk. Servers go on.",
          zh: "镜像页面列出了它们：请更新镜像，或接受没有风险的发现。服务器继续运行。",
        },
      },
      {
        en: "{count} images that are allowed or in use would not be published today, the first of them {image}",
        zh: "有 {count} 个允许使用或正在使用的镜像今天将不会被发布，其中第一个是 {image}",
      },
      { count: flagged, image: first_flagged.image_ref },
    ),
  ];
}

export const identity: Probe = {
  prefixes: ["mail-budget", "mail-queue"],
  look: async ({ mesh }) => {
    const health = await (await mesh()).call(identityHealth.readIdentityHealth, {});
    return { findings: judgeIdentity(health) };
  },
};

export function judgeIdentity({ mails_left, mails_waiting }: identityHealth.IdentityHealth): Finding[] {
  const findings: Finding[] = [];
  if (mails_left === 0)
    findings.push(
      finding(
        {
          ...{ key: "mail-budget", severity: "warning", forMinutes: 10 },
          hint: {
            en: "Look for a flood of sign-ins in the audit log; raise smtp.max_per_hour if there is none.",
            zh: "请在审计日志中查找异常登录；若无异常，可调大 smtp.max_per_hour。",
          },
        },
        { en: "The mail budget is used up: codes are not sent.", zh: "邮件额度已用尽：验证码无法发送。" },
      ),
    );
  if (mails_waiting > 0)
    findings.push(
      finding(
        {
          ...{ key: "mail-queue", severity: "warning", forMinutes: 10 },
          hint: {
            en: "The log of identity has the relay's reply.",
            zh: "中继的回复见 identity 的日志。",
          },
        },
        {
          en: "{count} mails have waited for the relay for more than ten minutes.",
          zh: "有 {count} 封邮件等待中继超过十分钟。",
        },
        { count: mails_waiting },
      ),
    );
  return findings;
}
