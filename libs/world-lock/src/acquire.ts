import { isKubeError, resources, type Target } from "@svc/kube";
import { Fault } from "@svc/proto";
import { findHolder } from "./find.ts";
import { type Hold, keepHold, type LockDeps } from "./held-lock.ts";
import { type LockKind, lockTtlMs, lockValue } from "./holder.ts";
import { type LockedServer, lockedServers, maintenanceAnnotation } from "./names.ts";

/** What a lock is asked for. */
export type AcquireOptions = {
  kind: LockKind;
  /** Only a server that is fully stopped is locked: not wanted, phase Stopped, no pod left. */
  mustBeStopped: boolean;
  /** Further conditions on the fresh object; throws to refuse. Asked again whenever somebody changed the object. */
  check?: (server: LockedServer) => void | Promise<void>;
  /** `Hold.value` of a process that died: when it is still the server's lock, it is taken over. */
  resume?: string;
};

const conflictTries = 20;

/**
 * Locks the world of a server. The lock is written against the version of the object that was checked, so of a wake
 * and a lock, or of two locks, exactly one wins and the other is told why. Throws `not_found`, `not_stopped`,
 * `maintenance_in_progress` or, while the reaper has it, `world_reclaiming`. A process that dies frees it by silence.
 */
export async function acquireLock(deps: LockDeps, target: Target, options: AcquireOptions): Promise<Hold> {
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
      return keepHold(deps, target, { kind: options.kind, value, startedAt });
    } catch (error) {
      // Somebody changed the object since: everything is checked again on what it is now.
      if (!isKubeError(error, 409) || left === 0) throw error;
    }
  }
}

async function checkFree(deps: LockDeps, server: LockedServer, options: AcquireOptions): Promise<void> {
  const { now = Date.now, ttlMs = lockTtlMs } = deps;
  // The object comes first: a Job that was made under a lock is there before that lock is taken away.
  const holder = await findHolder(deps.kube, server, { now: now(), ttlMs });
  const isOwn = holder?.by === "annotation" && holder.value === options.resume;
  if (holder && !isOwn) throw new Fault(faultOfHolder(holder.kind));
  if (options.mustBeStopped) await checkStopped(deps, server);
  await options.check?.(server);
}

/** The fault that tells somebody who else holds the world. */
export function faultOfHolder(kind: string): "world_reclaiming" | "maintenance_in_progress" {
  return kind === "reap" ? "world_reclaiming" : "maintenance_in_progress";
}

async function checkStopped({ kube }: LockDeps, { metadata, spec, status }: LockedServer): Promise<void> {
  const isAtRest = spec.desiredState !== "Running" && status?.phase === "Stopped";
  const { name, namespace = "default" } = metadata;
  // Stopped is also shown for the moment in which a pod that nobody counts any more still ends.
  if (isAtRest && !(await kube.find(resources.pods, { name: `${name}-0`, namespace }))) return;
  throw new Fault("not_stopped");
}
