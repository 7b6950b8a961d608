// Audit entries that were lost: counters of the processes, compared with those of the last run.

import { finding } from "../finding.ts";
import { healthFetch } from "./health-fetch.ts";
import { healthAddresses } from "./mesh.ts";
import { NotConfiguredError, type Probe } from "./probe.ts";

const line = /^svc_audit_write_failures_total(?:\{[^}]*\})? (\S+)$/m;
const withinMs = 5_000;
const shownMs = 86_400_000;
const grownKey = "audit/grown_at";
const mostBytes = 4_194_304;

export const auditWrites: Probe = {
  prefixes: ["audit-writes/"],
  look: async ({ settings, state, now }, signal) => {
    const addresses = await healthAddresses(settings.ops_watchdog);
    if (addresses.length === 0) throw new NotConfiguredError("no health port is known");
    const counters: Record<string, number> = {};
    let hasGrown = false;
    await Promise.all(
      addresses.map(async ({ url }) => {
        const count = await readCounter(url, signal).catch(() => undefined);
        if (count === undefined) return;
        const key = `audit/${url}`;
        counters[key] = count;
        // A process that started anew counts from 0.
        const before = state.counters[key];
        if (before !== undefined && count > before) hasGrown = true;
      }),
    );
    const grownAt = hasGrown ? now : state.counters[grownKey];
    if (grownAt === undefined || now - grownAt >= shownMs) return { findings: [], counters };
    return { findings: [lost(grownAt)], counters: { ...counters, [grownKey]: grownAt } };
  },
};

async function readCounter(url: string, signal: AbortSignal): Promise<number | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const response = await healthFetch(`${url}/metrics`, { signal: limit });
  const text = await response.text();
  if (text.length > mostBytes) return undefined;
  const [, value] = line.exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

function lost(at: number) {
  return finding(
    {
      ...{ key: `audit-writes/${at}`, severity: "warning", event: true },
      hint: {
        en: "Search the logs for `audit: lost`; check NATS and the disk of PostgreSQL.",
        zh: "请在日志中查找 `audit: lost`，并检查 NATS 和 PostgreSQL 的磁盘。",
      },
    },
    { en: "Entries of the audit log were lost.", zh: "有审计日志条目丢失。" },
  );
}
