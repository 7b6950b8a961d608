import { randomBytes } from "node:crypto";
import { type AuditActor, auditActor, type Handler, type Mesh } from "@svc/mesh";
import { backupKeeping, drills, Fault, type Principal } from "@svc/proto";
import { assertMayAccess, assertUserName, isStaff, type Scope, scopeAt } from "../access.ts";
import { recordAudit } from "../audit.ts";
import { findBackup, findLatest } from "../backup/store.ts";
import type { StorageTrx } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { assertConfigured, assertVolume, describeWorld, type WorldServer } from "../job/world.ts";
import { decideDrillWait } from "./admit.ts";
import type { Drill } from "./drill.ts";
import { findDrill, findRecentDrills, insertDrill, listDrills, lockDrillStarts } from "./store.ts";

export function serveDrills(mesh: Pick<Mesh, "serve">, deps: StorageDeps): void {
  mesh.serve(drills.begin, beginDrill(deps));
  mesh.serve(drills.list, list(deps));
  mesh.serve(backupKeeping.startDrill, startDrill(deps));
  mesh.serve(backupKeeping.readDrill, readDrill(deps));
}

/** storage.drill.begin */
const beginDrill =
  (deps: StorageDeps): Handler<typeof drills.begin> =>
  async (context, { name, backup_id }) => {
    const { principal } = context;
    assertUserName(name);
    const world = await describeWorld(deps, name);
    const wanted = { to: drills.begin };
    assertMayAccess(principal, world, wanted);
    return start(deps, {
      world,
      scope: scopeAt(principal, world, wanted),
      backupId: backup_id,
      audit: auditActor(context),
      admit: (trx) => assertMayStart(deps, trx, { server: name, principal }),
    });
  };

/** storage.drill.start: without the limits for owners. */
const startDrill =
  (deps: StorageDeps): Handler<typeof backupKeeping.startDrill> =>
  async (context, { name, backup_id }) =>
    start(deps, {
      world: await describeWorld(deps, name),
      scope: { kind: "all" },
      backupId: backup_id,
      audit: auditActor(context),
      admit: async () => {},
    });

type Start = {
  world: WorldServer;
  scope: Scope;
  backupId: string | undefined;
  audit: AuditActor;
  admit: (trx: StorageTrx) => Promise<void>;
};

/** The world itself is neither read nor locked. */
async function start(deps: StorageDeps, { world, scope, backupId, audit, admit }: Start): Promise<Drill> {
  assertConfigured(deps);
  await assertVolume(deps, world);
  const { name, owner_id: owner } = world;
  return deps.db.transaction().execute(async (trx) => {
    const backup = backupId
      ? await findBackup(trx, { scope, id: backupId })
      : await findLatest(trx, { scope, server: name, owner });
    if (backup?.server_name !== name) throw new Fault("no_backup");
    if (backup.corrupt_at) throw new Fault("backup_corrupt");
    await admit(trx);
    const id = randomBytes(5).toString("hex");
    const started_at = new Date(deps.now());
    const payload = { backup_id: backup.id, drill: id };
    await recordAudit(trx, { ...audit, action: "backup.drill", server_name: name, payload });
    return insertDrill(trx, { id, server_name: name, backup_id: backup.id, started_at });
  });
}

async function assertMayStart(
  deps: StorageDeps,
  trx: StorageTrx,
  { server, principal }: { server: string; principal: Principal },
): Promise<void> {
  await lockDrillStarts(trx);
  const recent = (await findRecentDrills(trx, server)).map((row) => ({
    server: row.server_name,
    at: row.started_at,
    isUnderWay: row.finished_at === null,
  }));
  const { drills_at_once: atOnce, drill_cooldown: cooldownMs } = deps.settings.storage;
  const about = { server, isStaff: isStaff(principal), now: deps.now() };
  const retryAfterSeconds = decideDrillWait(recent, about, { atOnce, cooldownMs });
  if (retryAfterSeconds !== undefined) throw new Fault("drill_busy", { retryAfterSeconds });
}

/** storage.drill.list */
const list =
  (deps: StorageDeps): Handler<typeof drills.list> =>
  async ({ principal }, { name }) => {
    assertUserName(name);
    const world = await describeWorld(deps, name);
    const wanted = { to: drills.list };
    assertMayAccess(principal, world, wanted);
    return { server: name, drills: await listDrills(deps.db, name, scopeAt(principal, world, wanted)) };
  };

/** storage.drill.read */
const readDrill =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof backupKeeping.readDrill> =>
  async (context, { id }) => {
    const drill = await findDrill(db, id);
    if (!drill) throw context.fault("not_found");
    return drill;
  };
