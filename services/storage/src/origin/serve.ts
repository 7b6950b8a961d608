import { auditActor, type Handler, type Mesh } from "@svc/mesh";
import { Fault, origins } from "@svc/proto";
import { assertMayAccess, assertUserName } from "../access.ts";
import { recordAudit } from "../audit.ts";
import { findBackup, findLatest } from "../backup/store.ts";
import type { StorageDb, StorageTrx } from "../database/tables.ts";
import { inNamespace, type StorageDeps } from "../deps.ts";
import { newJobName } from "../job/names.ts";
import { assertConfigured, assertStopped, assertVolume, describeWorld } from "../job/world.ts";
import { assertUnlocked } from "./source.ts";
import { changeOrigin, findOrigin, toOrigin } from "./store.ts";

export function serveOrigins(mesh: Pick<Mesh, "serve">, deps: StorageDeps): void {
  mesh.serve(origins.choose, choose(deps));
  mesh.serve(origins.read, read(deps));
  mesh.serve(origins.retry, retry(deps));
}

/** storage.origin.choose */
const choose =
  (deps: StorageDeps): Handler<typeof origins.choose> =>
  async (_context, { name, is_new, backup_id }) => {
    assertConfigured(deps);
    const world = await describeWorld(deps, name);
    if (is_new) {
      // Said at once where it is known already; the backup itself is started under the lock of the source.
      assertStopped(world);
      await assertVolume(deps, world);
      await assertUnlocked(deps, { name, ...inNamespace(deps) });
      return {};
    }
    const { owner_id: owner } = world;
    const found =
      backup_id === undefined
        ? await findLatest(deps.db, { scope: { kind: "all" }, server: name, owner })
        : await findBackup(deps.db, { scope: { kind: "all" }, id: backup_id });
    if (backup_id === undefined && !found)
      throw new Fault("no_backup", {
        message: `${name} has no backup yet. Make a new one for the clone, or clone without a world.`,
      });
    return { backup_id: assertUsable(found, name).id };
  };

type Backup = Awaited<ReturnType<typeof findBackup>>;

function assertUsable(backup: Backup, source: string): NonNullable<Backup> {
  if (!backup || backup.server_name !== source)
    throw new Fault("no_backup", {
      message: `There is no such backup of ${source}; list its backups, or make a new one.`,
    });
  if (backup.corrupt_at) throw new Fault("backup_corrupt");
  return backup;
}

/** storage.origin.read */
const read =
  (deps: StorageDeps): Handler<typeof origins.read> =>
  async ({ principal }, { name }) => {
    assertUserName(name);
    const world = await describeWorld(deps, name);
    assertMayAccess(principal, world, { to: origins.read });
    const row = await findOrigin(deps.db, name);
    return { server: name, ...(row && { origin: toOrigin(row) }) };
  };

/** storage.origin.retry */
const retry =
  (deps: StorageDeps): Handler<typeof origins.retry> =>
  async (context, { name, backup_id }) => {
    assertUserName(name);
    await describeWorld(deps, name);
    return deps.db.transaction().execute(async (trx) => {
      const row = await findOrigin(trx, name);
      if (row?.state !== "failed") throw context.fault("clone_not_failed");
      const wanted = backup_id ?? row.backup_id ?? undefined;
      if (wanted !== undefined) await assertIsBackup(trx, row.source_name, wanted);
      const changed = await changeOrigin(trx, row, {
        state: wanted === undefined ? "backing_up" : "restoring",
        backup_id: wanted ?? null,
        job: newJobName("restore", name),
        attempt: row.attempt + 1,
        attempt_at: new Date(deps.now()),
        ...{ message: null, code: null, finished_at: null },
      });
      if (!changed) throw context.fault("clone_not_failed");
      const payload = { source: row.source_name, ...(wanted !== undefined && { backup_id: wanted }) };
      const audit = { ...auditActor(context), action: "server.clone-retry", server_name: name, payload };
      await recordAudit(trx, audit);
      const after = await findOrigin(trx, name);
      if (!after) throw new Error(`the origin of ${name} is gone`);
      return { server: name, origin: toOrigin(after) };
    });
  };

async function assertIsBackup(db: StorageDb | StorageTrx, source: string, id: string): Promise<void> {
  assertUsable(await findBackup(db, { scope: { kind: "all" }, id }), source);
}
