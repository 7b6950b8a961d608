// What a restore would change (docs/reference/restore.md#plan).

import type { Handler } from "@svc/mesh";
import { restorePlans } from "@svc/proto";
import { assertMayAccess, assertUserName, scopeAt, type Wanted } from "../access.ts";
import { placeOf, readArchives, type Waiting } from "../backup/read-archives.ts";
import { findBackup } from "../backup/store.ts";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import type { JobSlots } from "../file/job-slots.ts";
import {
  assertConfigured,
  assertStopped,
  assertVolume,
  describeWorld,
  type WorldServer,
} from "../job/world.ts";
import { hasVolume } from "../job/world-claim.ts";
import { assertRestorable, chooseBackup } from "./choose-backup.ts";
import { readRestoredPaths } from "./paths.ts";

/** storage.backup.plan-restore */
export const planRestore =
  (deps: StorageDeps, jobSlots: JobSlots): Handler<typeof restorePlans.plan> =>
  async (context, { name, backup_id: backupId, only: given }) => {
    assertUserName(name);
    const { principal } = context;
    const only = given && readRestoredPaths(given);
    const world = await describeWorld(deps, name);
    assertMayAccess(principal, world, wantedOf(only));
    const scope = scopeAt(principal, world, wantedOf(only));
    const backup = await chooseBackup(deps, { scope, backupId, world });
    const caller = principal.kind === "account" ? principal.user_id : principal.kind;
    return jobSlots.run(caller, () => readPlan(deps, context, { world, backup, only }));
  };

/** storage.backup.plan-restore-by-operator */
export const planByOperator =
  (deps: StorageDeps): Handler<typeof restorePlans.planByOperator> =>
  async (context, { id, only: given }) => {
    const only = given && readRestoredPaths(given);
    const found = await findBackup(deps.db, { scope: { kind: "all" }, id });
    if (!found) throw context.fault("no_backup");
    const backup = assertRestorable(found, found.server_name);
    const world = await describeWorld(deps, backup.server_name);
    return readPlan(deps, context, { world, backup, only });
  };

/** It says what is in the world and in the backup, so whoever asks must be able to read both. */
function wantedOf(only: readonly string[] | undefined): Wanted {
  return { to: restorePlans.plan, ...(only && { reads: only, writes: only }) };
}

type Planned = { world: WorldServer; backup: BackupRow; only: string[] | undefined };

async function readPlan(
  deps: StorageDeps,
  context: Waiting,
  { world, backup, only }: Planned,
): Promise<restorePlans.RestorePlan> {
  const { name } = world;
  assertConfigured(deps);
  assertStopped(world);
  // As in the restore: of the whole world it makes the volume.
  const isAbsent = only === undefined && !(await hasVolume(deps, world));
  if (!isAbsent) await assertVolume(deps, world);
  const { restore } = await readArchives(deps, context, {
    server: name,
    task: {
      mode: "plan",
      from: placeOf(backup),
      ...(only && { only }),
      ...(isAbsent && { no_world: true as const }),
    },
    ...(!isAbsent && { claim: world.volume_claim }),
  });
  if (!restore) throw new Error("the Job of a plan answered without a result");
  return { name, backup_id: backup.id, backup_at: backup.created_at.toISOString(), ...restore };
}
