// Off-site copies (docs/reference/off-site.md#status).

import type { offsites } from "@svc/proto";
import type { WatchdogDb } from "../../database.ts";
import { readHostId } from "../../offsite/host-id.ts";
import { findPasses, hasBeenWriter, type PassRow } from "../../offsite/report.ts";
import { readWalCopies, toOffsiteStatus } from "../../offsite/status.ts";
import { readVerification } from "../../offsite/verification.ts";
import { type Finding, finding } from "../finding.ts";
import type { StandbyState } from "../state.ts";
import { NotConfiguredError, type Probe } from "./probe.ts";

export const offsite: Probe = {
  prefixes: ["offsite/"],
  look: async (context) => {
    const { offsite: settings } = context.settings;
    if (settings.bucket === "") throw new NotConfiguredError("offsite.bucket is not set");
    const db = context.database();
    const passes = await findPasses(db);
    const standby = await standbyOf(db, passes.last, settings.state_dir);
    const { wal_archive } = context.settings.ops_watchdog;
    const wal = wal_archive ? await readWalCopies(settings, context.now) : undefined;
    const verification = await readVerification(settings.state_dir);
    const status = toOffsiteStatus(settings, { ...passes, verification, wal }, context.now);
    return { findings: judgeOffsite(status), standby };
  },
};

/** Undefined while the newest pass does not say who writes. */
async function standbyOf(
  db: WatchdogDb,
  last: PassRow | undefined,
  stateDir: string,
): Promise<StandbyState | null | undefined> {
  if (last?.state === "completed" || last?.state === "incomplete") return null;
  if (last?.state !== "standby") return undefined;
  const { writer } = last.report;
  if (!writer) return null;
  const was_writer = await hasBeenWriter(db, await readHostId(stateDir));
  return { writer: writer.name, ran_at: Date.parse(writer.last_run_at), was_writer };
}

type Known = Pick<
  offsites.OffsiteStatus,
  "stale" | "last" | "max_age_seconds" | "last_completed_at" | "kinds" | "wal" | "damaged"
>;

const hint = {
  en: "`svc offsite status` says what is missing and why.",
  zh: "`svc offsite status` 会说明缺少什么及其原因。",
};

export function judgeOffsite(status: Known): Finding[] {
  const { stale, last, max_age_seconds, last_completed_at, kinds, wal, damaged = [] } = status;
  const findings: Finding[] = [];
  if (last?.state === "wrong_key")
    findings.push(
      finding(
        { key: "offsite/wrong-key", severity: "critical", hint },
        {
          en: "The off-site bucket is sealed with another key: nothing is copied.",
          zh: "异地存储桶使用了其他密钥：已停止复制。",
        },
      ),
    );
  if (last?.state === "standby")
    findings.push(
      finding(
        { key: "offsite/displaced", severity: "critical", hint },
        {
          en: "Another installation writes to the off-site bucket: nothing is copied from here.",
          zh: "另一个安装正在写入异地存储桶：本机已停止复制。",
        },
      ),
    );
  if (stale)
    findings.push(
      finding(
        {
          ...{ key: "offsite/stale", severity: "critical", hint },
          // The first pass of a new bucket may take as long.
          forMinutes: last_completed_at === undefined ? max_age_seconds / 60 : 0,
        },
        last_completed_at === undefined
          ? { en: "No off-site copy has been completed yet.", zh: "尚未完成过异地复制。" }
          : {
              en: "No off-site copy has been completed for {hours} hours.",
              zh: "已有 {hours} 小时没有完成异地复制。",
            },
        { hours: Math.round(max_age_seconds / 3_600) },
      ),
    );
  if (damaged.length > 0) findings.push(copiesDamaged(damaged));
  // Where nothing is copied at all it is said above.
  if (last?.state === "wrong_key" || last?.state === "standby") return findings;
  findings.push(...copiesMissing([...kinds, ...(wal?.copies ? [wal.copies] : [])]));
  if (wal?.stale) findings.push(walStale(wal.covered_until));
  return findings;
}

function copiesDamaged(keys: readonly string[]): Finding {
  return finding(
    {
      ...{ key: "offsite/damaged", severity: "critical" },
      hint: {
        en: "`svc offsite status` names them. `svc offsite verify` sends again what is here; of the rest bring older versions back if the bucket keeps versions.",
        zh: "`svc offsite status` 会列出它们。`svc offsite verify` 会重新发送本机仍有原件的副本；其余的，如果存储桶保留版本，请恢复较早的版本。",
      },
    },
    {
      en: "Off-site copies that cannot be used: {count}, such as {key}",
      zh: "无法使用的异地副本：{count} 个，例如 {key}",
    },
    { count: keys.length, key: keys[0] ?? "" },
  );
}

/** A pass sends what is here: what is still missing after the next ones cannot be sent. */
function copiesMissing(all: readonly offsites.OffsiteCopies[]): Finding[] {
  const count = all.reduce((sum, one) => sum + one.missing_count + one.not_whole_count, 0);
  const [key] = all.flatMap(({ missing, not_whole }) => [...missing, ...not_whole]);
  if (key === undefined) return [];
  return [
    finding(
      { key: "offsite/missing", severity: "warning", forMinutes: 180, hint },
      {
        en: "Off-site copies that are missing or not whole: {count}, such as {key}",
        zh: "缺失或不完整的异地副本：{count} 个，例如 {key}",
      },
      { count, key },
    ),
  ];
}

/** The first copy of the log, with its base backup, may take as long as one that was on its way. */
function walStale(until: string | undefined): Finding {
  const about = {
    key: "offsite/wal",
    severity: "warning",
    forMinutes: until === undefined ? 120 : 10,
    hint: {
      en: "`svc offsite status` says how far it is; `svc offsite sync` sends it now and says what fails.",
      zh: "`svc offsite status` 显示当前进度；`svc offsite sync` 会立即复制并说明失败原因。",
    },
  } as const;
  if (until === undefined)
    return finding(about, {
      en: "The off-site copies do not cover any point in time yet.",
      zh: "异地副本尚未覆盖任何时间点。",
    });
  return finding(
    about,
    {
      en: "The off-site copies cover points in time until {until} and no later.",
      zh: "异地副本仅覆盖到 {until}，之后的时间点无法恢复。",
    },
    { until },
  );
}
