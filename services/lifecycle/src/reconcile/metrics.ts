import { Counter, Gauge, Histogram, type Registry } from "@svc/telemetry";
import { type Server, systemRoleOf } from "../cluster/resource.ts";

export type LifecycleMetrics = {
  started: (seconds: number) => void;
  reconciled: (result: "done" | "failed") => void;
};

/** The gauges of behaviour.md b.8, filled by the replica that leads; `list` is empty for the others. */
export function createMetrics(registry: Registry, list: () => readonly Server[]): LifecycleMetrics {
  const registers = [registry];
  new Gauge({
    name: "svc_servers_total",
    help: "Servers that exist.",
    registers,
    collect() {
      this.set(list().length);
    },
  });
  new Gauge({
    name: "svc_server_phase",
    help: "1 for the phase that a server is in.",
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
  const starts = new Histogram({
    name: "svc_start_duration_seconds",
    help: "From the start of a server to its first answer.",
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200],
    registers,
  });
  const passes = new Counter({
    name: "svc_reconciles_total",
    help: "Passes over one server, by result.",
    labelNames: ["result"] as const,
    registers,
  });
  return {
    started: (seconds) => starts.observe(seconds),
    reconciled: (result) => passes.inc({ result }),
  };
}
