// Quotas of an account, in four dimensions (docs/reference/claims.md#quota). Pure.

import type { OutputOf, quotas } from "@svc/proto";
import type { Usage } from "../database/account-usage.ts";
import type { Costs } from "../database/server-row.ts";

export type Limits = OutputOf<typeof quotas.readLimits>["limits"];

/**
 * Describes the first quota that adding `more` would exceed; undefined when everything fits. null means no limit. A quota
 * that `more` does not use is never describeExceeded, even when it is over its limit already.
 */
export function describeExceeded(limits: Limits, used: Usage, more: Usage): string | undefined {
  const rows: [what: string, unit: string, limit: number | null, used: number, more: number][] = [
    ["servers", "", limits.max_servers, used.servers, more.servers],
    ["CPU", " milli", limits.max_cpu_milli, used.cpuMilli, more.cpuMilli],
    ["memory", " MB", limits.max_memory_mb, used.memoryMb, more.memoryMb],
    ["storage", " MB", scaled(limits.max_storage_gb, 1_024), used.storageMb, more.storageMb],
  ];
  const over = rows.find(([, , limit, has, wants]) => limit !== null && wants > 0 && has + wants > limit);
  if (!over) return undefined;
  const [what, unit, limit, has, wants] = over;
  return `The quota of ${what} is ${limit}${unit}: ${has}${unit} are used and ${wants}${unit} are requested.`;
}

function scaled(limit: number | null, factor: number): number | null {
  return limit === null ? null : limit * factor;
}

export type OwnerRefusal = { fault: "forbidden" | "quota_exceeded"; message: string };

/** Whether an account may own one more server of these costs. */
export function refusalOfOwner(about: {
  /** False for a disabled or deleted account. */
  isActive: boolean;
  limits: Limits;
  used: Usage;
  costs: Costs;
}): OwnerRefusal | undefined {
  if (!about.isActive) {
    return {
      fault: "forbidden",
      message: "This account is disabled or deleted; it cannot own another server.",
    };
  }
  const message = describeExceeded(about.limits, about.used, { ...about.costs, servers: 1 });
  return message === undefined ? undefined : { fault: "quota_exceeded", message };
}
