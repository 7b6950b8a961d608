import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";
import { type Server, systemRoleOf } from "../cluster/resource.ts";

export type LifecycleMetrics = {
  started: (seconds: number) => void;
  reconciled: (result: "done" | "failed", seconds: number) => void;
};

/** How the leader keeps up with its passes. */
export type PassLoad = {
  /** Servers that wait for a pass. */
  depth: () => number;
  /** Age of the longest pass that runs now; 0 when none does. */
  oldestPassMs: () => number;
};

/** What the metrics are read from; `leading` is undefined in a replica that does not lead. */
export type MetricSources = {
  list: () => readonly Server[];
  leading: () => PassLoad | undefined;
};

/** The gauges of docs/reference/metrics.md#lifecycle, filled by the replica that leads; `list` is empty for the others. */
export function createMetrics(registry: Registry, { list, leading }: MetricSources): LifecycleMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge("svc_servers_total", "Servers that exist.", () => list().length);
  gauge("svc_operator_leading", "1 in the replica that reconciles, 0 in the others.", () =>
    leading() ? 1 : 0,
  );
  gauge("svc_reconcile_queue_depth", "Servers that wait for a pass.", () => leading()?.depth() ?? 0);
  gauge(
    "svc_reconcile_oldest_pass_seconds",
    "Age of the longest pass under way.",
    () => (leading()?.oldestPassMs() ?? 0) / 1_000,
  );
  new Gauge({
    name: "svc_server_phase",
    help: "1 for the current phase of each server.",
    labelNames: ["server", "role", "phase", "desired"] as const,
    registers,
    collect() {
      this.reset();
      for (const server of list()) {
        const desired = server.spec.desiredState ?? "Stopped";
        const phase = server.status?.phase ?? "Unknown";
        this.set({ server: server.metadata.name, role: systemRoleOf(server), phase, desired }, 1);
      }
    },
  });
  const starts = createDurations(registry, {
    name: "svc_start_duration_seconds",
    help: "Time from the start of a server to its first successful probe.",
    labels: {},
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200],
  });
  const passes = new Counter({
    name: "svc_reconciles_total",
    help: "Passes over one server, by result.",
    labelNames: ["result"] as const,
    registers,
  });
  for (const result of ["done", "failed"]) passes.inc({ result }, 0);
  const durations = createDurations(registry, {
    name: "svc_reconcile_duration_seconds",
    help: "Duration of a pass over one server, including the wait for RCON.",
    labels: {},
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 5, 10, 60, 180],
  });
  return {
    started: (seconds) => starts({}, seconds),
    reconciled: (result, seconds) => {
      passes.inc({ result });
      durations({}, seconds);
    },
  };
}
