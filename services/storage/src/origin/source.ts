import { Fault } from "@svc/proto";
import { findHolder, lockedServers } from "@svc/world-lock";
import { type ClusterDeps, lockDepsOf } from "../deps.ts";

/** Throws the fault of a world that somebody works on. */
export async function assertUnlocked(
  deps: ClusterDeps,
  target: { name: string; namespace: string },
): Promise<void> {
  const server = await deps.kube.find(lockedServers, target);
  if (!server) throw new Fault("not_found", { message: `There is no server ${target.name}.` });
  const { ttlMs } = lockDepsOf(deps);
  const holder = await findHolder(deps.kube, server, { now: Date.now(), ttlMs });
  if (!holder) return;
  throw new Fault(holder.kind === "reap" ? "world_reclaiming" : "maintenance_in_progress");
}
