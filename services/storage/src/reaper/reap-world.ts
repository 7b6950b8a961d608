// Reaps one world that is due: stop, lock, free space, archive, off-site copy, and only then delete the volume. Everything
// is read again under the lock; a process that dies anywhere leaves the world, or an archive that the next run finds.

import { isFault, worlds } from "@svc/proto";
import { acquireLock, type HeldLock } from "@svc/world-lock";
import { presentBytes } from "../backup/store.ts";
import type { BackupRow } from "../database/tables.ts";
import { inNamespace, lockDepsOf } from "../deps.ts";
import { decideVolume, decideWorld, type VolumePlan, type WorldServer } from "./decide.ts";
import { confirmedSince, evict } from "./delete-archive.ts";
import { deleteWorld } from "./delete-world.ts";
import type { DueWorld } from "./due-world.ts";
import { planEviction } from "./evict-plan.ts";
import type { ReadBack } from "./guard.ts";
import { makeArchive } from "./make-archive.ts";
import { readBack, recordRead } from "./read-back.ts";
import { releaseServer } from "./release.ts";
import { addNote, count, countAndNote, type Run } from "./run.ts";
import { findEvictable, findLastSize, findReapBackups } from "./store.ts";
import { type Claim, findClaim, recreateMovedClaim } from "./volume.ts";

const busy: ReadonlySet<string> = new Set(["not_stopped", "maintenance_in_progress", "world_reclaiming"]);

export async function reapWorld(run: Run, name: string): Promise<void> {
  const { mesh } = run.deps;
  if (!(await findDue(run, name))) return;
  const { stopped } = await mesh.call(worlds.holdWorld, { name }, { signal: run.signal });
  if (!stopped) return count(run, "awaiting_stop");
  const lock = await takeLock(run, name);
  if (!lock) return count(run, "awaiting_stop");
  try {
    const found = await findDue(run, name);
    if (found) await reapLocked(run, { ...found, lock });
  } catch (error) {
    // A Job of this world from an earlier run whose end is not recorded yet.
    if (!isBusy(error)) throw error;
    count(run, "awaiting_stop");
  } finally {
    await lock.release();
  }
}

/** The server if it is still due; undefined when it is not, or is gone. */
async function findDue({ deps, warnBefore }: Run, name: string): Promise<Omit<DueWorld, "lock"> | undefined> {
  const world = await deps.mesh.call(worlds.describeServer, { name }).catch((error: unknown) => {
    if (isFault(error) && error.fault === "not_found") return undefined;
    throw error;
  });
  const plan = world && decideWorld(world, { now: deps.now(), warnBefore });
  return plan?.kind === "reap" ? { world: world as WorldServer, plan } : undefined;
}

async function takeLock({ deps }: Run, name: string): Promise<HeldLock | undefined> {
  const about = { kind: "reap", mustBeStopped: true } as const;
  try {
    return await acquireLock(lockDepsOf(deps), { name, ...inNamespace(deps) }, about);
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return isFault(error) && busy.has(error.fault);
}

async function reapLocked(run: Run, due: DueWorld): Promise<void> {
  const { claim, backups } = await observe(run, due);
  const { outcome } = due.plan;
  await act(
    run,
    { due, claim },
    decideVolume(due.world, { outcome, hasVolume: claim !== undefined, backups }),
  );
}

type Observed = { claim: Claim | undefined; backups: BackupRow[] };

async function observe({ deps }: Run, { world }: DueWorld): Promise<Observed> {
  const claim = await findClaim(deps, world.volume_claim);
  return { claim, backups: await findReapBackups(deps.db, world.name) };
}

async function act(
  run: Run,
  { due, claim }: { due: DueWorld; claim: Claim | undefined },
  plan: VolumePlan,
): Promise<void> {
  const { name, volume_claim } = due.world;
  switch (plan.kind) {
    case "restart-clock":
      await run.deps.mesh.call(worlds.restartIdleClock, { name });
      return;
    case "finish":
      await recreateVolume(run, due);
      return releaseServer(run, due, plan.backup);
    case "release":
      await recreateVolume(run, due);
      return releaseServer(run, due, undefined);
    case "reuse":
    case "archive": {
      if (!claim) throw new Error(`the volume ${volume_claim} is gone`);
      const proven = await prove(run, { due, claim }, plan);
      if (proven) await deleteWorld(run, due, { ...proven, claim });
    }
  }
}

/** An archive that has the world as it is now; undefined when the world is kept. */
async function prove(
  run: Run,
  { due, claim }: { due: DueWorld; claim: Claim },
  plan: Extract<VolumePlan, { kind: "reuse" | "archive" }>,
): Promise<Proven | undefined> {
  if (plan.kind === "archive") return archive(run, due, claim);
  if (isKeptPartial(run, plan.backup)) return undefined;
  const proven = await reuse(run, due, { claim, backup: plan.backup });
  if (proven === "keep") return undefined;
  return proven === "another" ? archive(run, due, claim) : proven;
}

/** A run that died after deleting a moved volume may not have created the next owner's. */
async function recreateVolume(run: Run, { world, plan }: DueWorld): Promise<void> {
  if (plan.outcome === "deleted" || (await recreateMovedClaim(run.deps, world))) return;
  addNote(
    run,
    `${world.name} will not start until the claim ${world.volume_claim} exists: its size is unknown`,
  );
}

type Proven = { backup: BackupRow; readBack: ReadBack };

/** Verifies an archive of an earlier run and compares the world with it, file by file. */
async function reuse(
  run: Run,
  { lock }: DueWorld,
  { claim, backup }: { claim: Claim; backup: BackupRow },
): Promise<Proven | "another" | "keep"> {
  const signal = AbortSignal.any([run.signal, lock.signal]);
  const result = await readBack(run.deps, backup, { claim: claim.name, signal });
  await recordRead(run, backup, result);
  if (result.kind === "unreadable") return "keep";
  if (result.kind === "corrupt") return "another";
  if (!result.isSameWorld) {
    addNote(run, `${backup.server_name} changed since its archive ${backup.id} was made; making a new one`);
    return "another";
  }
  const { sha256 } = result;
  return { backup, readBack: { run: run.id, backupId: backup.id, sha256, claimUid: claim.uid } };
}

const partialKeptMs = 7 * 86_400_000;

/**
 * A world with unreadable files is kept, since its archive is incomplete. That is not a failure of the run, and one such
 * archive is enough for a week.
 */
function isKeptPartial(run: Run, { server_name, unreadable_entries, created_at }: BackupRow): boolean {
  if (unreadable_entries === 0 || run.deps.now() - created_at.getTime() > partialKeptMs) return false;
  addNote(
    run,
    `${server_name} stays: ${unreadable_entries} of its files cannot be read; its backups list them`,
  );
  return true;
}

/** The agent verifies the archive before it reports success. */
async function archive(run: Run, due: DueWorld, claim: Claim): Promise<Proven | undefined> {
  const { world, plan, lock } = due;
  if (!(await makeRoom(run, world.name))) {
    countAndNote(run, "store_full", `${world.name} stays: the backup store has too little space`);
    return undefined;
  }
  const signal = AbortSignal.any([run.signal, lock.signal]);
  const made = await makeArchive(run.deps, { world, reason: plan.reason, signal });
  if (made.kind === "failed") {
    countAndNote(run, "skipped", `${world.name} was not archived: ${made.message}`);
    return undefined;
  }
  const { backup } = made;
  if (isKeptPartial(run, backup)) return undefined;
  const { id: backupId, sha256 } = backup;
  return { backup, readBack: { run: run.id, backupId, sha256, claimUid: claim.uid } };
}

async function makeRoom(run: Run, server: string): Promise<boolean> {
  const { db, settings } = run.deps;
  const max = settings.archive.max_local_bytes;
  if (max === 0) return true;
  const [{ bytes }, need] = await Promise.all([presentBytes(db), findLastSize(db, server)]);
  // Candidates are read only when something must be evicted: they are all backups, and there may be thousands of worlds.
  if (planEviction({ used: bytes, need, max }, []).isEnough) return true;
  const { used, candidates } = await findEvictable(db, {
    live: run.live,
    confirmedSince: confirmedSince(run),
  });
  const plan = planEviction({ used, need, max }, candidates);
  const chosen = candidates.filter(({ id }) => plan.evict.includes(id));
  return plan.isEnough && (await evict(run, chosen));
}
