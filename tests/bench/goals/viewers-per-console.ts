// VIEWERS: how the cost of one console grows with its viewers (docs/performance.md). One console prints 20 lines a
// second to 1, 100 and 1000 viewers of one gateway; the CPU is that of gateway and bus per line and viewer. One line is
// read once from the cluster and crosses the bus once, so it must get cheaper per viewer, never dearer.

import type { Bench, Goal } from "../harness/bench.ts";
import { type Consoles, closeViewers, openViewers, startConsoles, watchPace } from "../harness/consoles.ts";
import type { Fixture } from "../harness/fixture.ts";
import { watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";

const name = "bench-viewers";

async function watchedBy(
  bench: Bench,
  { fixture, consoles }: { fixture: Fixture; consoles: Consoles },
  count: number,
): Promise<{ us: number; p99Ms: number }> {
  const paths = Array.from({ length: count }, () => `/api/v1/servers/${name}/console`);
  const { viewers, headers, cluster } = consoles;
  await openViewers(viewers, { port: fixture.external.port, paths, headers });
  const plan = { names: [name], perSecond: 20, seconds: Math.max(2, bench.windowMs / 1_000) };
  const cpu = watchCpu([fixture.external.pid, fixture.natsPid]);
  const seen = await watchPace(cluster, viewers, plan);
  const us = cpu() / seen.lines;
  await closeViewers(viewers);
  return { us, p99Ms: seen.p99Ms };
}

export const viewersPerConsole: Goal = {
  name: "VIEWERS",
  title: "one console and its viewers",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const consoles = await startConsoles(fixture);
    const parts = { fixture, consoles };
    try {
      await watchedBy(bench, parts, 10);
      const found = await interleave(bench.options.rounds, {
        one: () => watchedBy(bench, parts, 1),
        hundred: () => watchedBy(bench, parts, 100),
        thousand: () => watchedBy(bench, parts, 1_000),
      });
      const row = (what: string, ours: number): Row => ({
        goal: "VIEWERS",
        what,
        unit: "us",
        ours,
        anchor: found.one.us,
        anchorName: "one viewer",
        limit: { bound: "at most", of: "ratio", goal: 1 },
      });
      return [
        row("CPU per line and viewer, 100 viewers", found.hundred.us),
        row("CPU per line and viewer, 1000 viewers", found.thousand.us),
        {
          goal: "VIEWERS",
          what: "line -> viewer, 1000 viewers, p99",
          unit: "ms",
          ours: found.thousand.p99Ms,
        },
      ];
    } finally {
      await consoles.stop();
    }
  },
};
