import { isKubeError, resources, type Target } from "@svc/kube";
import { Fault } from "@svc/proto";
import { findHolder } from "./find.ts";
import { createHeldLock, type HeldLock, type LockDeps } from "./held-lock.ts";
import { type LockKind, lockTtlMs, lockValue } from "./holder.ts";
import { type LockedServer, lockedServers, maintenanceAnnotation } from "./names.ts";

/** How a lock is acquired. */
export type AcquireOptions = {
  kind: LockKind;
  /** Requires a fully stopped server: desired state not Running, phase Stopped, no pod left. */
  mustBeStopped: boolean;
  /** Further conditions on the fresh object; throws to reject. Runs again whenever the object has changed. */
  check?: (server: LockedServer) => void | Promise<void>;
  /** `HeldLock.value` of a process that died: when it is still the server's lock, it is taken over. */
  resume?: string;
};

const conflictTries = 20;

/**
 * Locks the world of a server. The lock is written against the version of the object that was checked, so of a wake
 * and a lock, or of two locks, exactly one wins. Throws `not_found`, `not_stopped`,
 * `maintenance_in_progress` or, while the reaper holds it, `world_reclaiming`. The lock of a dead process expires.
 */
export async function acquireLock(
  deps: LockDeps,
  target: Target,
  options: AcquireOptions,
): Promise<HeldLock> {
  for (let left = conflictTries; ; left--) {
    const server = await deps.kube.find(lockedServers, target);
    if (!server) throw new Fault("not_found", { message: `There is no server ${target.name}.` });
    await checkFree(deps, server, options);
    const startedAt = performance.now();
    const value = lockValue(options.kind, (deps.now ?? Date.now)());
    const { resourceVersion } = server.metadata;
    const merge = { metadata: { resourceVersion, annotations: { [maintenanceAnnotation]: value } } };
    try {
      await deps.kube.patch(lockedServers, target, { merge });
      return createHeldLock(deps, target, { kind: options.kind, value, startedAt });
    } catch (error) {
      // The object has changed since it was read: check everything again.
      if (!isKubeError(error, 409) || left === 0) throw error;
    }
  }
}

async function checkFree(deps: LockDeps, server: LockedServer, options: AcquireOptions): Promise<void> {
  const { now = Date.now, ttlMs = lockTtlMs } = deps;
  // The object was read before the Jobs: a Job created under a lock exists before that lock is removed.
  const holder = await findHolder(deps.kube, server, { now: now(), ttlMs });
  const isOwn = holder?.by === "annotation" && holder.value === options.resume;
  if (holder && !isOwn) throw new Fault(faultOfHolder(holder.kind));
  if (options.mustBeStopped) await checkStopped(deps, server);
  await options.check?.(server);
}

/** The fault for a world that somebody else holds. */
function faultOfHolder(kind: string): "world_reclaiming" | "maintenance_in_progress" {
  return kind === "reap" ? "world_reclaiming" : "maintenance_in_progress";
}

async function checkStopped({ kube }: LockDeps, { metadata, spec, status }: LockedServer): Promise<void> {
  const isAtRest = spec.desiredState !== "Running" && status?.phase === "Stopped";
  const { name, namespace = "default" } = metadata;
  // The phase is Stopped for a moment while the last pod still terminates.
  if (isAtRest && !(await kube.find(resources.pods, { name: `${name}-0`, namespace }))) return;
  throw new Fault("not_stopped");
}
