// Backups of servers that are shared with the caller, where no server is named (docs/reference/shared-access.md#decision).

import {
  type AnyContract,
  askedBy,
  Fault,
  isFault,
  isLive,
  members,
  type Principal,
  reaches,
} from "@svc/proto";
import { assertMayAccess, type Scope, scopeOf, type Wanted } from "../access.ts";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { describeWorld } from "../job/world.ts";
import { findBackup } from "./store.ts";

type Needs = Pick<StorageDeps, "mesh">;
type To = Pick<AnyContract, "http">;

/** The caller's own backups, and those of servers where it has what the operation asks for. Throws `unavailable`. */
async function wholeScope({ mesh }: Needs, principal: Principal, to: To): Promise<Scope> {
  const own = scopeOf(principal);
  const { rights: asked } = askedBy(to);
  if (principal.kind !== "account" || own.kind !== "owner" || asked === "owner") return own;
  const { servers } = await mesh.call(members.listSharedWith, { user_id: principal.user_id });
  const now = Date.now();
  const shared = servers.filter(
    (one) =>
      isLive(one, now) &&
      reaches(principal, one.server) &&
      asked.every((right) => one.rights.includes(right)),
  );
  return { ...own, shared: shared.map(({ server, owner_id: owner }) => ({ server, owner })) };
}

/** As `wholeScope`; the caller's own alone while lifecycle does not answer. */
export async function listScope(deps: Needs, principal: Principal, to: To): Promise<Scope> {
  return wholeScope(deps, principal, to).catch((error: unknown) => {
    if (isFault(error) && error.fault === "unavailable") return scopeOf(principal);
    throw error;
  });
}

/**
 * The scope in which a caller has a backup, and the backup; throws `no_backup`. Of its own ones nobody is asked; for others
 * lifecycle, and without its answer this throws `unavailable`. `reads`: paths in the backup, which the paths of a member
 * limit; throws `path_not_shared`.
 */
export async function findInScope(
  { db, ...deps }: Needs & Pick<StorageDeps, "db">,
  principal: Principal,
  { id, ...wanted }: { id: string } & Pick<Wanted, "to" | "reads">,
): Promise<{ scope: Scope; backup: BackupRow }> {
  const own = scopeOf(principal);
  const found = await findBackup(db, { scope: own, id });
  if (found) return { scope: own, backup: found };
  const scope = await wholeScope(deps, principal, wanted.to);
  const shared = await findBackup(db, { scope, id });
  if (!shared) throw new Fault("no_backup");
  if (wanted.reads) assertMayAccess(principal, await describeWorld(deps, shared.server_name), wanted);
  return { scope, backup: shared };
}
