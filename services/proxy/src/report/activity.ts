// What the proxy tells about itself: metrics, and a line every ten minutes (docs/reference/metrics.md#proxy).

import { Counter, Gauge, Histogram, type Registry } from "@svc/telemetry";
import type { CallRecord } from "../api/internal-api.ts";

const counted = [
  "busy",
  "joinEventsFailed",
  "joinEventsDropped",
  "transfersFailed",
  "refreshesFailed",
  "visitsDropped",
] as const;
type Counted = (typeof counted)[number];

export type Activity = {
  call: (record: CallRecord) => void;
  count: (what: Counted) => void;
  /** What a log line says of the time since the last one. */
  flush: (waiting: number) => Record<string, number>;
  refused: (reason: string) => void;
};

const nothing = () => ({
  calls: 0,
  noAnswer: 0,
  refused4xx: 0,
  failed5xx: 0,
  retried: 0,
  totalMs: 0,
  maxMs: 0,
});
const noCounts = () => Object.fromEntries(counted.map((name) => [name, 0])) as Record<Counted, number>;

export function createActivity(
  registry: Registry,
  sizes: { players: () => number; waiting: () => number },
): Activity {
  const metrics = createMetrics(registry, sizes);
  let sums = nothing();
  let counts = noCounts();
  return {
    call: ({ operation, status, elapsedMs, isRetried }) => {
      metrics.calls.observe({ operation, outcome: outcomeOf(status) }, elapsedMs / 1_000);
      sums.calls += 1;
      if (status === 0) sums.noAnswer += 1;
      if (status >= 400 && status < 500) sums.refused4xx += 1;
      if (status >= 500) sums.failed5xx += 1;
      if (isRetried) sums.retried += 1;
      sums.totalMs += elapsedMs;
      sums.maxMs = Math.max(sums.maxMs, elapsedMs);
    },
    count: (what) => {
      counts[what] += 1;
      metrics.events.inc({ what });
    },
    refused: (reason) => metrics.refused.inc({ reason }),
    flush: (waiting) => {
      const { totalMs, maxMs, ...rest } = sums;
      const avgMs = Math.round(totalMs / Math.max(1, rest.calls));
      const line = { ...rest, avgMs, maxMs: Math.round(maxMs), ...counts, waiting };
      sums = nothing();
      counts = noCounts();
      return line;
    },
  };
}

function createMetrics(
  registry: Registry,
  { players, waiting }: { players: () => number; waiting: () => number },
) {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge("svc_proxy_players", "Players connected through this proxy.", players);
  gauge("svc_proxy_waiting", "Players who wait for a server.", waiting);
  return {
    calls: new Histogram({
      name: "svc_proxy_call_duration_seconds",
      help: "Calls of the internal face.",
      labelNames: ["operation", "outcome"],
      buckets: [0.01, 0.05, 0.25, 1, 5, 10],
      registers,
    }),
    events: new Counter({
      name: "svc_proxy_events_total",
      help: "Problems other than failed calls, by event.",
      labelNames: ["what"],
      registers,
    }),
    refused: new Counter({
      name: "svc_proxy_connections_refused_total",
      help: "Connections that were refused before they became players.",
      labelNames: ["reason"],
      registers,
    }),
  };
}

function outcomeOf(status: number): string {
  if (status === 0) return "no_answer";
  return `${Math.floor(status / 100)}xx`;
}
