// What only the leading replica does: passes over every server, and the projection of their results.

import { once } from "node:events";
import { createEventRecorder, createWorkQueue, isKubeError, type Kube, type WorkQueue } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import type { Logger, Registry } from "@svc/telemetry";
import { operatorName } from "../cluster/resource.ts";
import { type Watched, watchOwned, type watchServers } from "../cluster/watched.ts";
import type { LifecycleSettings } from "../config.ts";
import { type CrashMetrics, startCrashRecorder } from "../crash/recorder.ts";
import type { CrashStore } from "../crash/store.ts";
import type { OwnerRows } from "../ownership/owner-rows.ts";
import { publishOwners } from "../ownership/publish-owners.ts";
import type { ServerStore } from "../server/store.ts";
import type { LifecycleMetrics, PassLoad } from "./metrics.ts";
import { startProjection } from "./projection.ts";
import { createRconAccess, type RconAccess } from "./rcon-access.ts";
import { createReconciler, type Reconciler } from "./reconcile.ts";

export type Leading = PassLoad & {
  changed: (name: string) => void;
  countSoon: (name: string) => void;
};

export type OperatorDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "writeView" | "call">;
  store: ServerStore;
  ownerRows: OwnerRows;
  crashes: CrashStore;
  settings: LifecycleSettings;
  namespace: string;
  /** Unique per process. */
  identity: string;
  registry: Registry;
  log: Logger;
  now?: () => number;
  /** Replaces RCON over the network. */
  rcon?: RconAccess;
};

type LeaderDeps = OperatorDeps & {
  shared: ReturnType<typeof watchServers>;
  metrics: LifecycleMetrics;
  crashMetrics: CrashMetrics;
  /** Called with the interface of the leader when it leads, and with undefined when it stops. */
  onLeading: (leading: Leading | undefined) => void;
  isHeld: () => boolean;
};

const highestBackOffMs = 30_000;

/** Leads until `signal` aborts, then waits for the passes under way. */
export async function leadServers(deps: LeaderDeps, signal: AbortSignal): Promise<void> {
  const { kube, settings, namespace, log, shared, isHeld } = deps;
  const ended = signal.aborted ? Promise.resolve() : once(signal, "abort");
  let enqueue = (_name: string) => {};
  const owned = watchOwned({ kube, namespace, relistMs: settings.relist, log }, (name) => enqueue(name));
  const watched: Watched = { ...shared, ...owned };
  const stopWatching = () => Promise.all(Object.values(owned).map((informer) => informer.stop()));
  await Promise.race([Promise.all(Object.values(watched).map((informer) => informer.ready)), ended]);
  if (signal.aborted) return void (await stopWatching());

  const events = createEventRecorder({ kube, component: operatorName, log });
  const reconciler = createReconciler({
    kube,
    watched,
    events,
    settings,
    rcon: deps.rcon ?? createRconAccess({ kube, settings }),
    now: deps.now ?? Date.now,
    isHeld,
    onStarted: deps.metrics.started,
    onPhase: (change) => log.info(change, "server changed its phase"),
  });
  const { queue, oldestPassMs } = startPasses(deps, reconciler, signal);
  const projection = startProjection({ ...deps, servers: shared.servers, ending: signal });
  const { mesh, ownerRows } = deps;
  const owners = publishOwners({ mesh, rows: ownerRows, servers: shared.servers, log, ending: signal });
  const recorder = startCrashRecorder({
    ...{ kube, watched, settings, namespace, log },
    crashes: deps.crashes,
    metrics: deps.crashMetrics,
    now: deps.now ?? Date.now,
  });
  enqueue = (name) => {
    queue.add(name);
    recorder.changed(name);
  };
  const changed = (name: string) => {
    queue.add(name);
    projection.changed(name);
    owners.changed(name);
    recorder.changed(name);
  };
  const countSoon = (name: string) => {
    reconciler.countSoon(name);
    queue.add(name);
  };
  deps.onLeading({ changed, countSoon, oldestPassMs, depth: () => queue.depth });
  for (const name of shared.servers.keys()) changed(name);
  await ended;
  deps.onLeading(undefined);
  await queue.close();
  await Promise.all([projection.close(), owners.close(), recorder.close(), events.idle(), stopWatching()]);
}

type Passes = { queue: WorkQueue; oldestPassMs: () => number };

function startPasses(deps: LeaderDeps, reconciler: Reconciler, signal: AbortSignal): Passes {
  const { settings, metrics } = deps;
  const begun = new Map<string, number>();
  const secondsOf = (name: string) => (performance.now() - (begun.get(name) ?? performance.now())) / 1_000;
  // A map keeps the order of insertion: the first entry is the oldest.
  const oldestPassMs = () => performance.now() - (begun.values().next().value ?? performance.now());
  const queue = createWorkQueue({
    // Passes that wait for RCON release their slot; the reconciler itself limits how many work.
    concurrency: settings.concurrency + settings.max_probes,
    highestBackOffMs,
    handle: async (name, ending) => {
      begun.set(name, performance.now());
      try {
        const waitMs = await reconciler.reconcile(name, ending);
        metrics.reconciled("done", secondsOf(name));
        return waitMs;
      } catch (error) {
        // Our copy was older than the object; the watch brings the newer one and with it another pass.
        if (!signal.aborted && !isKubeError(error, 409)) metrics.reconciled("failed", secondsOf(name));
        throw error;
      } finally {
        begun.delete(name);
      }
    },
    onError: (name, error, retryMs) => {
      if (signal.aborted) return;
      if (isKubeError(error, 409)) return;
      const { message } = error as Error;
      deps.log.warn(
        { server: name, error: message, retry_ms: retryMs },
        "pass over a server failed; retrying",
      );
    },
  });
  return { queue, oldestPassMs };
}
