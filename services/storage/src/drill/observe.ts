// Reads what a drill's next step depends on, once, before anything is decided.

import { type Pod, resources } from "@svc/kube";
import { readStatus } from "@svc/minecraft";
import { findBackup } from "../backup/store.ts";
import { type ClusterDeps, inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { observeJob } from "../job/outcome.ts";
import { findWorld } from "../job/world.ts";
import type { Observed, ObservedPod } from "./decide.ts";
import { type Drill, scratchName } from "./drill.ts";

const gamePort = 25_565;
const statusMs = 5_000;
/** Sent by a client that does not know the version of the server yet. */
const unknownProtocol = -1;

/** Throws the errors of the cluster, lifecycle and the drill's server. */
export async function observeDrill(
  deps: Pick<StorageDeps, "kube" | "mesh" | "db" | "settings" | "now">,
  drill: Drill,
): Promise<Observed> {
  const ageMs = deps.now() - Date.parse(drill.started_at);
  return drill.state === "restoring"
    ? { ...(await observeRestore(deps, drill)), ageMs }
    : { ...(await observeBoot(deps, drill)), ageMs };
}

async function observeRestore(deps: Pick<StorageDeps, "kube" | "mesh" | "db" | "settings">, drill: Drill) {
  const job = await observeJob(logDepsOf(deps), scratchName(drill));
  const step = "restoring" as const;
  if (job !== "none") return { step, job, worldVolume: undefined, backup: undefined };
  const [world, backup] = await Promise.all([
    findWorld(deps, drill.server_name),
    findBackup(deps.db, { scope: { kind: "all" }, id: drill.backup_id }),
  ]);
  const volume = world && { name: world.volume_claim, ...inNamespace(deps) };
  return { step, job, worldVolume: volume && (await deps.kube.find(resources.claims, volume)), backup };
}

async function observeBoot(deps: ClusterDeps & Pick<StorageDeps, "now">, drill: Drill) {
  const place = inNamespace(deps);
  const pod = await deps.kube.find(resources.pods, { name: scratchName(drill), ...place });
  const step = "booting" as const;
  if (pod) return { step, pod: await observePod(pod, deps.now()), set: undefined };
  const set = await deps.kube.find(resources.statefulSets, { name: drill.server_name, ...place });
  return { step, pod: undefined, set };
}

async function observePod({ metadata, status }: Pod, now: number): Promise<ObservedPod> {
  const { phase, podIP, conditions = [] } = status ?? {};
  const ageMs = Math.max(0, now - Date.parse(metadata.creationTimestamp ?? ""));
  const hasExited = phase === "Failed" || phase === "Succeeded";
  const isReady = conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
  if (hasExited || !isReady || !podIP) return { ageMs, hasExited, version: undefined };
  const backend = { name: metadata.name, host: podIP, port: gamePort, timeoutMs: statusMs };
  const { versionName: version } = await readStatus(backend, unknownProtocol);
  return { ageMs, hasExited, version };
}
