// G22, the gateway's memory: 250,000 status requests with a session through the shipped external gateway (a million
// with --full), its resident memory taken forty times on the way. Goal: at most 300 MB, and flat: the mean of the last
// quarter at most 1.05 times that of the second. Unfair would be: measuring right after a forced collection.

import type { Bench, Goal } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import { residentMb } from "../harness/process-stats.ts";
import { statusBySession } from "./request-throughput.ts";

const slices = 40;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function requestsOf({ isQuick, isFull }: Bench["options"]): number {
  if (isQuick) return 20_000;
  return isFull ? 1_000_000 : 250_000;
}

export const gatewayMemory: Goal = {
  name: "G22-GATEWAY",
  title: "memory of a gateway under load",
  run: async (bench) => {
    const fixture = await bench.fixture();
    await fixture.lifecycle.ask("fill", 0);
    const target = statusBySession(fixture);
    const total = requestsOf(bench.options);
    await warm(bench, target);
    const taken: number[] = [];
    for (let slice = 0; slice < slices; slice += 1) {
      await measure(bench, target, 50, { windowMs: 60_000, requests: total / slices });
      taken.push(residentMb(fixture.external.pid));
    }
    const [second, last] = [mean(taken.slice(10, 20)), mean(taken.slice(30))];
    const after = `${total.toLocaleString("en").replaceAll(",", " ")} requests`;
    return [
      {
        goal: "G22",
        what: `gateway after ${after}, most resident`,
        unit: "MB",
        ours: Math.max(...taken),
        limit: { bound: "at most", of: "figure", goal: 300 },
      },
      {
        goal: "G22",
        what: "the same, last quarter against the second",
        unit: "MB",
        ours: last,
        anchor: second,
        anchorName: "second quarter",
        limit: { bound: "at most", of: "ratio", goal: 1.05 },
      },
    ];
  },
};
