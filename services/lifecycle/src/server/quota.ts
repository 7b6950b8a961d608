// What an account may own, in four dimensions (interface.md 2.23). Pure.

import type { OutputOf, quotas } from "@svc/proto";
import type { Usage } from "../database/account-usage.ts";
import type { Costs } from "../database/server-row.ts";

export type Limits = OutputOf<typeof quotas.readLimits>["limits"];

/**
 * The first dimension that adding `more` would pass, in words; undefined when everything fits. null is no limit. A
 * dimension that `more` does not touch refuses nothing, also when it is over its limit already.
 */
export function exceeded(limits: Limits, used: Usage, more: Usage): string | undefined {
  const rows: [what: string, unit: string, limit: number | null, used: number, more: number][] = [
    ["servers", "", limits.max_servers, used.servers, more.servers],
    ["CPU", " milli", limits.max_cpu_milli, used.cpuMilli, more.cpuMilli],
    ["memory", " MB", limits.max_memory_mb, used.memoryMb, more.memoryMb],
    ["storage", " MB", scaled(limits.max_storage_gb, 1_024), used.storageMb, more.storageMb],
  ];
  const over = rows.find(([, , limit, has, wants]) => limit !== null && wants > 0 && has + wants > limit);
  if (!over) return undefined;
  const [what, unit, limit, has, wants] = over;
  return `The quota of ${what} is ${limit}${unit}: ${has}${unit} are used and ${wants}${unit} are asked for.`;
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
    return { fault: "forbidden", message: "This account is disabled or deleted; it can own nothing new." };
  }
  const message = exceeded(about.limits, about.used, { ...about.costs, servers: 1 });
  return message === undefined ? undefined : { fault: "quota_exceeded", message };
}
