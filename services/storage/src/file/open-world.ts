// How a file Job comes to a world: the checks, and the lock of what changes it (interface.md 3.2, behaviour.md h.1).

import { Fault, type Principal } from "@svc/proto";
import type { Task } from "@svc/proto/world-task";
import { acquireLock, type HeldLock, type LockKind } from "@svc/world-lock";
import { assertMayTouch, assertUserName } from "../access.ts";
import { lockDepsOf, placeOf } from "../deps.ts";
import { createJob } from "../job/begin.ts";
import { label } from "../job/names.ts";
import type { JobWish } from "../job/spec.ts";
import { assertStopped, assertVolume, describeWorld, type WorldServer } from "../job/world.ts";
import type { TransferDeps } from "../transfer/deps.ts";

export type Visit = { principal: Principal; server: string };

/** The server, for those who may work on its world. Throws `bad_name`, `not_found` or `forbidden`. */
export async function openWorld(
  deps: Pick<TransferDeps, "mesh">,
  { principal, server }: Visit,
): Promise<WorldServer> {
  assertUserName(server);
  const world = await describeWorld(deps, server);
  assertMayTouch(principal, world);
  return world;
}

/** As `openWorld`, and the world must be at rest and there. */
export async function openStopped(deps: TransferDeps, visit: Visit): Promise<WorldServer> {
  const world = await openWorld(deps, visit);
  assertJobs(deps);
  assertStopped(world);
  await assertVolume(deps, world);
  return world;
}

/** Takes the world's lock for its caller; what was true before is asked again under it. */
export async function holdWorld(
  deps: TransferDeps,
  visit: Visit,
  kind: LockKind,
): Promise<{ hold: HeldLock; world: WorldServer }> {
  await openStopped(deps, visit);
  const target = { name: visit.server, ...placeOf(deps) };
  const hold = await acquireLock(lockDepsOf(deps), target, { kind, mustBeStopped: true });
  try {
    return { hold, world: await openStopped(deps, visit) };
  } catch (error) {
    await hold.release();
    throw error;
  }
}

function assertJobs({ settings }: Pick<TransferDeps, "settings">): void {
  if (settings.storage.agent_image !== "") return;
  throw new Fault("files_unavailable", {
    message: "File operations are not set up here: storage.agent_image names no image.",
  });
}

/** Throws `files_unavailable` where bytes have no way between a Job and us. */
export function assertTransfers({ settings }: Pick<TransferDeps, "settings">): void {
  const { internal_url, staging_path } = settings.storage;
  if (internal_url !== "" && staging_path !== "") return;
  const missing = internal_url === "" ? "storage.internal_url" : "storage.staging_path";
  throw new Fault("files_unavailable", { message: `Uploads are not set up here: ${missing} is empty.` });
}

const readers: ReadonlySet<Task["mode"]> = new Set(["list", "read"]);

/** True for what changes nothing and needs no lock. */
export function isReader({ mode }: Pick<Task, "mode">): boolean {
  return readers.has(mode);
}

export type FileJob = Pick<JobWish, "name" | "task" | "deadlineMs" | "secret" | "ttlMs">;

export async function createFileJob(deps: TransferDeps, world: WorldServer, wish: FileJob): Promise<void> {
  await createJob(deps, {
    ...wish,
    server: world.name,
    manager: "svc-files",
    world: { claim: world.volume_claim, mode: isReader(wish.task) ? "ro" : "rw" },
    labels: { [label.filesMode]: wish.task.mode },
  });
}
