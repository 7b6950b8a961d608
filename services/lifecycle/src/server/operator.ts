// The part of the service that runs once: the leader's passes over all servers (architecture.md 5).

import { once } from "node:events";
import {
  createEventRecorder,
  createWorkQueue,
  type Informer,
  isKubeError,
  type Kube,
  type Node,
  startLease,
} from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import type { Logger, Registry } from "@svc/telemetry";
import type { LifecycleSettings } from "../config.ts";
import { createMetrics } from "./metrics.ts";
import { startProjection } from "./projection.ts";
import { createRconAccess } from "./rcon-access.ts";
import { createReconciler } from "./reconcile.ts";
import { operatorName, type Server } from "./resource.ts";
import type { ServerStore } from "./store.ts";
import { watchOwned, watchServers } from "./watched.ts";

export type OperatorDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "writeView">;
  store: ServerStore;
  settings: LifecycleSettings;
  namespace: string;
  /** Unique per process. */
  identity: string;
  registry: Registry;
  log: Logger;
  now?: () => number;
};

export type Operator = {
  /** Servers and nodes as this replica sees them, leading or not. */
  servers: Informer<Server>;
  nodes: Informer<Node>;
  isLeading: () => boolean;
  /** Counts players at once when this replica leads; false when another does. */
  countSoon: (name: string) => boolean;
  close: () => Promise<void>;
};

type Leading = { changed: (name: string) => void; countSoon: (name: string) => void };

export function startOperator(deps: OperatorDeps): Operator {
  const { kube, settings, namespace, log } = deps;
  let leading: Leading | undefined;
  const about = { kube, namespace, relistMs: settings.relist, log };
  const shared = watchServers(about, (name) => leading?.changed(name));
  const metrics = createMetrics(deps.registry, () => (leading ? shared.servers.list() : []));

  const lead = async (signal: AbortSignal) => {
    let enqueue = (_name: string) => {};
    const owned = watchOwned(about, (name) => enqueue(name));
    const watched = { ...shared, ...owned };
    const ended = once(signal, "abort");
    const copies = Promise.all(Object.values(watched).map((informer) => informer.ready));
    await Promise.race([copies, ended]);
    const rcon = createRconAccess({ kube, settings });
    const events = createEventRecorder({ kube, component: operatorName, log });
    const { started } = metrics;
    const now = deps.now ?? Date.now;
    const reconciler = createReconciler({
      kube,
      rcon,
      watched,
      events,
      settings,
      now,
      onStarted: started,
      log,
    });
    const queue = createWorkQueue({
      concurrency: settings.concurrency,
      handle: async (name, ending) => {
        const wait = await reconciler.reconcile(name, ending);
        metrics.reconciled("done");
        return wait;
      },
      onError: (name, error, retryMs) => {
        if (signal.aborted) return;
        metrics.reconciled("failed");
        // Our copy was older than the object; the watch brings the newer one and with it another pass.
        if (isKubeError(error, 409)) return;
        log.warn({ server: name, error: (error as Error).message, retry_ms: retryMs }, "a pass failed");
      },
      highestBackOffMs: 30_000,
    });
    const projection = startProjection({
      ...deps,
      servers: shared.servers,
      autoRestarts: settings.auto_restarts,
    });
    enqueue = queue.add;
    leading = {
      changed: (name) => {
        queue.add(name);
        projection.changed(name);
      },
      countSoon: (name) => {
        reconciler.countSoon(name);
        queue.add(name);
      },
    };
    for (const name of shared.servers.keys()) leading.changed(name);
    await ended;
    leading = undefined;
    await queue.close();
    await Promise.all([
      projection.close(),
      events.idle(),
      ...Object.values(owned).map((informer) => informer.stop()),
    ]);
  };
  const lease = startLease({
    kube,
    namespace,
    name: "lifecycle-reconciler",
    identity: deps.identity,
    durationMs: settings.lease_duration,
    renewMs: settings.lease_renew,
    lead,
    log,
  });
  return {
    ...shared,
    isLeading: () => leading !== undefined,
    countSoon: (name) => {
      leading?.countSoon(name);
      return leading !== undefined;
    },
    close: async () => {
      await lease.release();
      await Promise.all([shared.servers.stop(), shared.nodes.stop()]);
    },
  };
}
