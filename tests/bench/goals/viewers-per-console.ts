// VIEWERS: how the cost of one console grows with its viewers (performance.md, growth). One console prints 20 lines a
// second to 1, 100 and 1000 viewers of one gateway; the CPU is that of gateway and bus per line and viewer. One line is
// read once from the cluster and crosses the bus once, so it must get cheaper per viewer, never dearer.

import type { Arena, Goal } from "../harness/bench.ts";
import { type Consoles, closeViewers, openViewers, startConsoles, watchPace } from "../harness/consoles.ts";
import type { Cell } from "../harness/fixture.ts";
import { watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";

const name = "bench-viewers";

async function watchedBy(
  arena: Arena,
  { cell, consoles }: { cell: Cell; consoles: Consoles },
  count: number,
): Promise<{ us: number; p99Ms: number }> {
  const paths = Array.from({ length: count }, () => `/api/v1/servers/${name}/console`);
  const { viewers, headers, cluster } = consoles;
  await openViewers(viewers, { port: cell.external.port, paths, headers });
  const plan = { names: [name], perSecond: 20, seconds: Math.max(2, arena.windowMs / 1_000) };
  const cpu = watchCpu([cell.external.pid, cell.natsPid]);
  const seen = await watchPace(cluster, viewers, plan);
  const us = cpu() / seen.lines;
  await closeViewers(viewers);
  return { us, p99Ms: seen.p99Ms };
}

export const viewers: Goal = {
  name: "VIEWERS",
  title: "one console and its viewers",
  run: async (arena) => {
    const cell = await arena.cell();
    const consoles = await startConsoles(cell);
    const parts = { cell, consoles };
    try {
      await watchedBy(arena, parts, 10);
      const found = await interleave(arena.options.rounds, {
        one: () => watchedBy(arena, parts, 1),
        hundred: () => watchedBy(arena, parts, 100),
        thousand: () => watchedBy(arena, parts, 1_000),
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
