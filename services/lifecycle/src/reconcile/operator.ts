// One replica's part in running the servers: a copy of them for requests, and a candidate for the lead
// (architecture.md 5).

import { type Informer, type Kube, type Node, startLease } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import type { Logger, Registry } from "@svc/telemetry";
import type { Server } from "../cluster/resource.ts";
import { watchServers } from "../cluster/watched.ts";
import type { LifecycleSettings } from "../config.ts";
import type { ServerStore } from "../server/store.ts";
import { type Leading, leadServers } from "./leader.ts";
import { createMetrics } from "./metrics.ts";

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

export function startOperator(deps: OperatorDeps): Operator {
  const { kube, settings, namespace, log, identity } = deps;
  let leading: Leading | undefined;
  const about = { kube, namespace, relistMs: settings.relist, log };
  const shared = watchServers(about, (name) => leading?.changed(name));
  const metrics = createMetrics(deps.registry, () => (leading ? shared.servers.list() : []));
  const onLeading = (now: Leading | undefined) => {
    leading = now;
  };
  const lease = startLease({
    kube,
    namespace,
    name: "lifecycle-reconciler",
    identity,
    durationMs: settings.lease_duration,
    renewMs: settings.lease_renew,
    lead: (signal) => leadServers({ ...deps, shared, metrics, onLeading }, signal),
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
