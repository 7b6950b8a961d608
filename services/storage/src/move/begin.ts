import { randomBytes } from "node:crypto";
import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { Fault, isFault, type migrations } from "@svc/proto";
import { acquireLock, lockedServers, lockValue, maintenanceAnnotation } from "@svc/world-lock";
import { assertUserName } from "../access.ts";
import type { MoveRow } from "../database/world-migrations.ts";
import { type ClusterDeps, inNamespace, lockDepsOf, type StorageDeps } from "../deps.ts";
import { assertTicketsEnabled } from "../job/archive-ticket.ts";
import { assertConfigured, assertStopped, describeWorld, type WorldServer } from "../job/world.ts";
import { assertTarget, nodeIdentity } from "../volume/node.ts";
import { findPlacedClaim, nodeOf, type PlacedClaim } from "../volume/placed-claim.ts";
import { abandon, deleteUnlocked, findMoveBackup, findUnfinished, insertMove, markLocked } from "./store.ts";
import { toMoveView } from "./view.ts";

type Contract = typeof migrations.begin;

/** storage.migration.begin: the row is written before the lock, so that no lock is without a row. */
export const begin =
  (deps: StorageDeps): Handler<Contract> =>
  async (context, { name, targetNode }) => {
    assertUserName(name);
    const known = await findKnown(deps, name);
    if (known) return assertSameTarget(deps, known, targetNode);
    const { world, placed, home } = await assertMovable(deps, name, targetNode);
    const row = await insertMove(deps.db, newRow(deps, context, { world, placed, home, targetNode }));
    if (!row) throw context.fault("maintenance_in_progress");
    await lockServer(deps, row);
    await markLocked(deps.db, row, new Date(deps.now()), auditActor(context));
    return toMoveView(row);
  };

/** An unfinished move. A failed one whose lock was removed has ended: the world may have changed since. */
async function findKnown(
  deps: Pick<StorageDeps, "kube" | "db" | "settings" | "now">,
  name: string,
): Promise<MoveRow | undefined> {
  const known = await findUnfinished(deps.db, name);
  if (known?.cancelled_at) {
    throw new Fault("maintenance_in_progress", {
      message: "The last move is being cancelled; try again in a moment.",
    });
  }
  if (known?.state !== "failed" || (await holdsLock(deps, known))) return known;
  await abandon(deps.db, known.id, new Date(deps.now()));
  return undefined;
}

/** Whether the server is locked by this move. */
export async function holdsLock(deps: ClusterDeps, { server_name, lock }: MoveRow): Promise<boolean> {
  const server = await deps.kube.find(lockedServers, { name: server_name, ...inNamespace(deps) });
  return server?.metadata.annotations?.[maintenanceAnnotation] === lock;
}

async function assertSameTarget(deps: Pick<StorageDeps, "db">, known: MoveRow, target: string) {
  if (known.target_node === target) return toMoveView(known, await findMoveBackup(deps.db, known));
  throw new Fault("maintenance_in_progress", {
    message: `The world is being moved to ${known.target_node}; finish that move first.`,
  });
}

async function assertMovable(
  deps: Pick<StorageDeps, "kube" | "mesh" | "settings">,
  name: string,
  targetNode: string,
) {
  const world = await describeWorld(deps, name);
  assertConfigured(deps);
  assertTicketsEnabled(deps);
  if (world.system || world.reaper_exempt) {
    throw new Fault("system_server", { message: "System and exempt servers cannot be moved." });
  }
  await assertTarget(deps, targetNode);
  assertStopped(world);
  const placed = await findPlacedClaim(deps, world.volume_claim);
  if (!placed)
    throw new Fault("no_world_volume", {
      message: "The server was never started, so it has no world to move.",
    });
  const node = nodeOf(placed);
  if (placed.place.is === "unknown") {
    throw new Fault("no_world_volume", {
      message: `The world's volume selects its node by ${placed.place.selector}, and nothing that a kubelet can't change says which one that is; see docs/reference/moves.md#pins.`,
    });
  }
  if (!node) {
    throw new Fault("no_world_volume", {
      message: "The world's volume is not bound to a single node, so it needs no move.",
    });
  }
  if (nodeIdentity(node) === targetNode) {
    throw new Fault("bad_node", { message: `The world is already on ${targetNode}.` });
  }
  return { world, placed, home: nodeIdentity(node) };
}

type Facts = { world: WorldServer; placed: PlacedClaim; home: string; targetNode: string };

function newRow(
  deps: Pick<StorageDeps, "now">,
  context: Context<Contract>,
  { world, placed, home, targetNode }: Facts,
) {
  const now = deps.now();
  const id = randomBytes(16).toString("hex");
  return {
    id,
    server_name: world.name,
    state: "backing_up" as const,
    stage: "backing_up" as const,
    source_node: home,
    target_node: targetNode,
    source_claim: world.volume_claim,
    source_claim_uid: placed.uid,
    target_claim: `world-${world.name}-m${id.slice(0, 12)}`,
    lock: lockValue("migration", now),
    owner_id: world.owner_id ?? null,
    started_by: auditActor(context).actor,
    started_at: new Date(now),
    updated_at: new Date(now),
  };
}

/** Acquires a lock that outlives this process; only the move releases it. */
async function lockServer(deps: Pick<StorageDeps, "kube" | "db" | "settings">, row: MoveRow): Promise<void> {
  const target = { name: row.server_name, ...inNamespace(deps) };
  try {
    const lock = await acquireLock({ ...lockDepsOf(deps), now: () => row.started_at.getTime() }, target, {
      kind: "migration",
      mustBeStopped: true,
    });
    await lock.leave();
  } catch (error) {
    // If the cluster did not answer the lock may exist: the next step finds out.
    if (!isFault(error) || error.fault !== "unavailable") await deleteUnlocked(deps.db, row.id);
    throw error;
  }
}
