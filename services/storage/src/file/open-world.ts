// Opens a world for a file Job: the checks, and the lock for changes (docs/reference/world-lock.md#lock).

import { Fault, type Principal } from "@svc/proto";
import { acquireLock, type HeldLock, isReadingMode, type LockKind } from "@svc/world-lock";
import { assertMayAccess, assertUserName, type Wanted } from "../access.ts";
import { type ClusterDeps, inNamespace, lockDepsOf, type StorageDeps } from "../deps.ts";
import { createJob } from "../job/begin.ts";
import { label } from "../job/names.ts";
import type { JobSpec } from "../job/spec.ts";
import { assertStopped, assertVolume, describeWorld, type WorldServer } from "../job/world.ts";
import type { FileDeps } from "./deps.ts";

export type WorldAccess = Wanted & { principal: Principal; server: string };

/** The server, if the caller may access its world. Throws `bad_name`, `not_found` or `forbidden`. */
export async function openWorld(
  deps: Pick<FileDeps, "mesh">,
  { principal, server, ...wanted }: WorldAccess,
): Promise<WorldServer> {
  assertUserName(server);
  const world = await describeWorld(deps, server);
  assertMayAccess(principal, world, { to: wanted.to, ...pathsOf(wanted) });
  return world;
}

// What is passed here has more members than these.
function pathsOf({ reads, writes, moves }: Omit<Wanted, "to">): Omit<Wanted, "to"> {
  return { ...(reads && { reads }), ...(writes && { writes }), ...(moves && { moves }) };
}

/** As `openWorld`, and the server must be stopped and have a volume. */
export async function openStoppedWorld(deps: StorageDeps, visit: WorldAccess): Promise<WorldServer> {
  const world = await openWorld(deps, visit);
  assertJobsEnabled(deps);
  assertStopped(world);
  await assertVolume(deps, world);
  return world;
}

/** Acquires the world's lock; all checks are repeated under it. */
export async function lockWorld(
  deps: StorageDeps,
  visit: WorldAccess,
  kind: LockKind,
): Promise<{ lock: HeldLock; world: WorldServer }> {
  await openStoppedWorld(deps, visit);
  const target = { name: visit.server, ...inNamespace(deps) };
  const lock = await acquireLock(lockDepsOf(deps), target, { kind, mustBeStopped: true });
  try {
    return { lock, world: await openStoppedWorld(deps, visit) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function assertJobsEnabled({ settings }: Pick<FileDeps, "settings">): void {
  if (settings.storage.agent_image !== "") return;
  throw new Fault("files_unavailable", {
    message: "File operations are not configured: storage.agent_image is empty.",
  });
}

/** Throws `files_unavailable` when byte transfers between Jobs and storage are not configured. */
export function assertTransfersEnabled({ settings }: Pick<FileDeps, "settings">): void {
  const { internal_url, staging_path } = settings.storage;
  if (internal_url !== "" && staging_path !== "") return;
  const missing = internal_url === "" ? "storage.internal_url" : "storage.staging_path";
  throw new Fault("files_unavailable", { message: `Uploads are not configured: ${missing} is empty.` });
}

type FileJob = Pick<JobSpec, "name" | "task" | "deadlineMs" | "secret" | "ttlMs">;

export async function createFileJob(deps: ClusterDeps, world: WorldServer, spec: FileJob): Promise<void> {
  await createJob(deps, {
    ...spec,
    server: world.name,
    manager: "svc-files",
    world: { claim: world.volume_claim, mode: isReadingMode(spec.task.mode) ? "ro" : "rw" },
    labels: { [label.filesMode]: spec.task.mode },
  });
}
