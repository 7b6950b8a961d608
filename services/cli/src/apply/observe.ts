// The present state of a server over the public operations.

import { members, ownership, restartPolicies, schedules, servers } from "@svc/proto";
import type { External } from "../account/external.ts";
import { isCode } from "../account/refusal.ts";
import type { Present, Wanted } from "./change.ts";

/** Which lists of a server are read. */
type Scope = Pick<Wanted, "name"> &
  Record<"hasTasks" | "hasAllowlist" | "hasRestart" | "hasMembers", boolean>;

export function scopeOf({ name, schedules: tasks, allowlist, restart, members: shared }: Wanted): Scope {
  return {
    name,
    hasTasks: tasks !== undefined,
    hasAllowlist: allowlist !== undefined,
    hasRestart: restart !== undefined,
    hasMembers: shared !== undefined,
  };
}

/** Names of the servers that the caller owns. */
export async function readOwned(external: External): Promise<ReadonlySet<string>> {
  const { items } = await external.call(ownership.listMine, {});
  return new Set(items.filter(({ owned }) => owned).map(({ name }) => name));
}

/** Throws what refuses a read, but for a server that is not there. */
export async function observe(
  external: External,
  { name, hasTasks, hasAllowlist, hasRestart, hasMembers }: Scope,
  owned: ReadonlySet<string>,
): Promise<Present> {
  const info = await external.call(servers.viewStatus, { name }).catch((error: unknown) => {
    if (isCode(error, "not_found")) return undefined;
    throw error;
  });
  if (!info) return { kind: "absent" };
  if (!("idleStopSeconds" in info)) return { kind: "foreign" };
  const [tasks, allowlist, restart, shared] = await Promise.all([
    hasTasks ? external.call(schedules.list, { name }) : undefined,
    hasAllowlist ? external.call(ownership.listAllowlist, { name }) : undefined,
    hasRestart ? external.call(restartPolicies.read, { name }) : undefined,
    hasMembers ? external.call(members.list, { name }) : undefined,
  ]);
  return {
    ...{ kind: "managed", info, isOwned: owned.has(name), allowlist: allowlist?.entries },
    tasks: tasks && { stored: tasks.schedules, limit: tasks.limit },
    ...{ restart, members: shared?.members },
  };
}
