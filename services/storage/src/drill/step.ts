// Carries drills on, one step at a look; every step may be repeated. What a drill made goes before its end is told.
//
// restoring -> booting   the backup is in the scratch volume
//           -> failed    the Job refused or died, or the backup is gone
// booting   -> passed    the server on it told its status
//           -> failed    it ended, or was not ready in time

import { isKubeError, resources } from "@svc/kube";
import { isFault } from "@svc/proto";
import { findBackup } from "../backup/store.ts";
import { inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { createJob } from "../job/begin.ts";
import { readOutcome } from "../job/outcome.ts";
import { findWorld } from "../job/world.ts";
import { restoreJobSpec } from "../restore/job-spec.ts";
import { type Drill, type Drills, hasEnded, scratchName } from "./drill.ts";
import { drillLabel, scratchClaim, scratchPod } from "./objects.ts";
import { askStatus } from "./server-status.ts";
import { removeScratch } from "./sweep.ts";

const gamePort = 25_565;
const statusMs = 5_000;

/** What is to change in a drill; nothing while it only waits. */
type Change = Partial<Pick<Drill, "state" | "message" | "version" | "boot_seconds">> | undefined;

/** One step of every drill that is under way. */
export async function stepDrills(deps: StorageDeps, drills: Drills, signal: AbortSignal): Promise<void> {
  for (const key of await drills.keys()) {
    if (signal.aborted) return;
    const entry = await drills.get(key);
    if (!entry || hasEnded(entry.value)) continue;
    const change = await nextChange(deps, entry.value).catch((error: unknown) => failureOf(deps, error));
    if (!change) continue;
    const next: Drill = { ...entry.value, ...change };
    if (!hasEnded(next)) {
      await drills.update(key, next, entry.revision);
      continue;
    }
    await removeScratch(deps, next.id);
    const finished_at = new Date(deps.now()).toISOString();
    await drills.update(key, { ...next, finished_at }, entry.revision);
    deps.log.info({ drill: key, server: next.server_name, state: next.state }, "drill ended");
  }
}

// A part that is away now may be back at the next look.
function failureOf(deps: Pick<StorageDeps, "log">, error: unknown): Change {
  if ((isFault(error) && error.fault === "unavailable") || isKubeError(error, 409)) return undefined;
  deps.log.warn({ error: (error as Error).message }, "drill failed");
  return { state: "failed", message: (error as Error).message };
}

async function nextChange(deps: StorageDeps, drill: Drill): Promise<Change> {
  const { storage } = deps.settings;
  const ageMs = deps.now() - Date.parse(drill.started_at);
  if (ageMs > storage.drill_limit) return { state: "failed", message: "the drill exceeded its time limit" };
  return drill.state === "restoring" ? restoreStep(deps, drill) : bootStep(deps, drill, ageMs);
}

async function restoreStep(
  deps: Pick<StorageDeps, "kube" | "mesh" | "db" | "settings">,
  drill: Drill,
): Promise<Change> {
  const { kube } = deps;
  const place = inNamespace(deps);
  const name = scratchName(drill);
  const job = await kube.find(resources.jobs, { name, ...place });
  if (job) {
    const outcome = await readOutcome(logDepsOf(deps), job);
    if (!outcome) return undefined;
    if (outcome.kind === "done") return { state: "booting" };
    const message = outcome.kind === "refused" ? outcome.fault.message : outcome.message;
    return { state: "failed", message };
  }
  const [world, backup] = await Promise.all([
    findWorld(deps, drill.server_name),
    findBackup(deps.db, { scope: { kind: "all" }, id: drill.backup_id }),
  ]);
  const claim = world && (await kube.find(resources.claims, { name: world.volume_claim, ...place }));
  if (!claim) return { state: "failed", message: "the server or its world is gone" };
  if (!backup) return { state: "failed", message: "the backup is gone" };
  await ignoreConflict(kube.create(resources.claims, scratchClaim(drill, claim, place)));
  const row = { job: name, server_name: name, only_paths: null };
  const wish = restoreJobSpec(deps, row, { backup, world: { volume_claim: name } });
  // It holds no world: the scratch volume is nobody's.
  await createJob(deps, { ...wish, manager: "svc-verify", labels: { [drillLabel]: drill.id } });
  return undefined;
}

async function bootStep(
  deps: Pick<StorageDeps, "kube" | "settings" | "now">,
  drill: Drill,
  ageMs: number,
): Promise<Change> {
  const { kube } = deps;
  const place = inNamespace(deps);
  const pod = await kube.find(resources.pods, { name: scratchName(drill), ...place });
  if (!pod) {
    const set = await kube.find(resources.statefulSets, { name: drill.server_name, ...place });
    if (!set) return { state: "failed", message: "the server was never started, so it has no pod template" };
    await ignoreConflict(kube.create(resources.pods, scratchPod(drill, set, place)));
    return undefined;
  }
  const seconds = Math.max(0, (deps.now() - Date.parse(pod.metadata.creationTimestamp ?? "")) / 1_000);
  const { phase, podIP, conditions = [] } = pod.status ?? {};
  if (phase === "Failed" || phase === "Succeeded") {
    return { state: "failed", message: "the server exited during startup" };
  }
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  if (isReady && podIP) {
    const { version } = await askStatus(podIP, gamePort, statusMs);
    return { state: "passed", version, boot_seconds: Math.round(Math.min(seconds, ageMs / 1_000)) };
  }
  if (seconds * 1_000 <= deps.settings.storage.drill_boot) return undefined;
  return { state: "failed", message: "the server did not become ready in time" };
}

async function ignoreConflict(made: Promise<unknown>): Promise<void> {
  await made.catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}
