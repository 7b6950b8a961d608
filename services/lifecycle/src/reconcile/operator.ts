// One replica's part in running the servers: a copy of them for requests, and a candidate for leader
// (docs/reference/data.md#database).

import { type Informer, type Node, startLease } from "@svc/kube";
import type { Server } from "../cluster/resource.ts";
import { watchServers } from "../cluster/watched.ts";
import { createCrashMetrics } from "../crash/recorder.ts";
import { type Leading, leadServers, type OperatorDeps } from "./leader.ts";
import { createMetrics } from "./metrics.ts";

export type Operator = {
  /** Servers and nodes as this replica sees them, leading or not. */
  servers: Informer<Server>;
  nodes: Informer<Node>;
  isLeading: () => boolean;
  /** Why the process must be restarted; undefined while passes complete. */
  stuck: () => string | undefined;
  /** Counts players at once when this replica leads; false when another does. */
  countSoon: (name: string) => boolean;
  close: () => Promise<void>;
};

export function startOperator(deps: OperatorDeps): Operator {
  const { kube, settings, namespace, log, identity } = deps;
  let leading: Leading | undefined;
  const about = { kube, namespace, relistMs: settings.relist, log };
  const shared = watchServers(about, (name) => leading?.changed(name));
  const metrics = createMetrics(deps.registry, {
    list: () => (leading ? shared.servers.list() : []),
    leading: () => leading,
  });
  const crashMetrics = createCrashMetrics(deps.registry);
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
    lead: (signal) =>
      leadServers(
        { ...deps, shared, metrics, crashMetrics, onLeading, isHeld: () => lease.isHeld() },
        signal,
      ),
    log,
  });
  return {
    ...shared,
    isLeading: () => leading !== undefined,
    stuck: () => {
      const seconds = Math.round((leading?.oldestPassMs() ?? 0) / 1_000);
      return seconds * 1_000 > settings.pass_stuck
        ? `a pass over a server has taken ${seconds} s`
        : undefined;
    },
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
