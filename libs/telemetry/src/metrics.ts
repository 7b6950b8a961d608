import { performance } from "node:perf_hooks";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export { Counter, Gauge, Histogram, Registry };

/** Longest interval of a timer; the histogram's own would wake every idle process a hundred times a second. */
const neverMs = 2 ** 31 - 1;
const delayGauges = ["min", "max", "mean", "stddev", "p50", "p90", "p99"].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
);

/** A registry with the process metrics and `svc_build_info{component,version}` = 1. */
export function createRegistry(component: string, version: string): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const name of delayGauges) registry.removeSingleMetric(name);
  addEventLoopUtilization(registry);
  new Gauge({
    name: "svc_build_info",
    help: "Which build runs; always 1.",
    labelNames: ["component", "version"],
    registers: [registry],
  }).set({ component, version }, 1);
  return registry;
}

/** What a delay histogram would tell, from counters that the loop keeps anyway. */
function addEventLoopUtilization(registry: Registry): void {
  let last = performance.eventLoopUtilization();
  new Gauge({
    name: "nodejs_eventloop_utilization_ratio",
    help: "Share of the time since the last scrape in which the event loop was busy.",
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}
