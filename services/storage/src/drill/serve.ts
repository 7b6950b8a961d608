import { randomBytes } from "node:crypto";
import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import { findBackup, findLatest } from "../backup/store.ts";
import type { StorageDeps } from "../deps.ts";
import { assertConfigured, assertVolume, describeWorld } from "../job/world.ts";
import type { Drills } from "./drill.ts";

/** storage.drill.start: the world itself is neither read nor locked. */
export const startDrill =
  (deps: StorageDeps, drills: Drills): Handler<typeof backupKeeping.startDrill> =>
  async (context, { name, backup_id }) => {
    assertConfigured(deps);
    await assertVolume(deps, await describeWorld(deps, name));
    const scope = { kind: "all" } as const;
    const backup = backup_id
      ? await findBackup(deps.db, { scope, id: backup_id })
      : await findLatest(deps.db, { scope, server: name });
    if (backup?.server_name !== name) throw context.fault("no_backup");
    if (backup.corrupt_at) throw context.fault("backup_corrupt");
    const id = randomBytes(5).toString("hex");
    const started_at = new Date(deps.now()).toISOString();
    const drill = { id, server_name: name, backup_id: backup.id, state: "restoring" as const, started_at };
    await drills.create(id, drill);
    const payload = { backup_id: backup.id, drill: id };
    deps.mesh.audit({ ...auditActor(context), action: "backup.drill", server_name: name, payload });
    return drill;
  };

/** storage.drill.read */
export const readDrill =
  (drills: Drills): Handler<typeof backupKeeping.readDrill> =>
  async (context, { id }) => {
    const entry = await drills.get(id);
    if (!entry) throw context.fault("not_found");
    return entry.value;
  };
