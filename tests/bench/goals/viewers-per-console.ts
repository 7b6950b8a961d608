// VIEWERS: how the cost of one console grows with its viewers (docs/performance.md). One console prints 20 lines a
// second to 1, 100 and 1000 viewers of one gateway; the CPU is that of gateway and bus per line and viewer. One line is
// read once from the cluster and crosses the bus once, so the cost per viewer falls towards that of the anchor: a bare
// Fastify process that writes each line to as many viewers itself.

import type { Bench, Goal } from "../harness/bench.ts";
import type { Child } from "../harness/child.ts";
import { type Consoles, closeViewers, openViewers, startConsoles, watchPace } from "../harness/consoles.ts";
import type { Fixture } from "../harness/fixture.ts";
import { watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";

const name = "bench-viewers";

type Figures = { us: number; p99Ms: number };
type Parts = { fixture: Fixture; consoles: Consoles };
type Watched = { port: number; path: string; source: Child; pids: readonly number[] };

const ours = ({ fixture, consoles }: Parts): Watched => ({
  port: fixture.external.port,
  path: `/api/v1/servers/${name}/console`,
  source: consoles.cluster,
  pids: [fixture.external.pid, fixture.natsPid],
});
const bare = ({ consoles }: Parts): Watched => ({
  port: consoles.bare.port,
  path: `/console/${name}`,
  source: consoles.bare,
  pids: [consoles.bare.pid],
});

async function watchedBy(
  bench: Bench,
  { viewers, headers }: Consoles,
  { port, path, source, pids, count }: Watched & { count: number },
): Promise<Figures> {
  await openViewers(viewers, { port, paths: Array.from({ length: count }, () => path), headers });
  const plan = { names: [name], perSecond: 20, seconds: Math.max(2, bench.windowMs / 1_000) };
  const cpu = watchCpu(pids);
  const seen = await watchPace(source, viewers, plan);
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
      const by = (what: (parts: Parts) => Watched, count: number) => () =>
        watchedBy(bench, consoles, { ...what(parts), count });
      await by(ours, 10)();
      await by(bare, 10)();
      const found = await interleave(bench.options.rounds, {
        one: by(ours, 1),
        hundred: by(ours, 100),
        bareHundred: by(bare, 100),
        thousand: by(ours, 1_000),
        bareThousand: by(bare, 1_000),
      });
      const row = (count: number, figures: Figures, anchor: Figures): Row => ({
        goal: "VIEWERS",
        what: `CPU per line and viewer, ${count} viewers`,
        unit: "us",
        ours: figures.us,
        anchor: anchor.us,
        anchorName: "bare SSE",
        limit: { bound: "at most", of: "ratio", goal: 2 },
        note: `one viewer ${found.one.us.toFixed(0)} us`,
      });
      return [
        row(100, found.hundred, found.bareHundred),
        row(1_000, found.thousand, found.bareThousand),
        {
          goal: "VIEWERS",
          what: "line -> viewer, 1000 viewers, p99",
          unit: "ms",
          ours: found.thousand.p99Ms,
          anchor: found.bareThousand.p99Ms,
          anchorName: "bare SSE",
        },
      ];
    } finally {
      await consoles.stop();
    }
  },
};
