// TICK: one look of the scheduler for due tasks (docs/performance.md: it follows due items).
// Ours: lifecycle's scheduler and its SQL on a durable PostgreSQL. Anchor of an idle tick among 5,000 enabled tasks: the
// same tick among 10. The tick with runs is that of 5,000 tasks every quarter of an hour, a sixtieth of which is due;
// their servers are not there, so each run is two transactions and no call to a cluster.
// Unfair would be: a table without statistics, or tasks that are due too late to be looked at.

import type { Goal } from "../harness/bench.ts";
import { interleave } from "../harness/statistics.ts";

type Ticked = { p50Ms: number; ran: number };

export const scheduleTick: Goal = {
  name: "TICK",
  title: "one look of the scheduler",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const ticker = await fixture.ticker();
    const times = bench.options.isQuick ? 20 : 200;
    const idle = async (count: number) => {
      await ticker.ask("fill", { count, due: 0 });
      await ticker.ask("tick", { times: 20 });
      const { p50Ms, ran } = await ticker.ask<Ticked>("tick", { times });
      if (ran > 0) throw new Error(`${ran} tasks ran that were not due`);
      return { p50Ms };
    };
    const found = await interleave(bench.options.rounds, {
      many: () => idle(5_000),
      few: () => idle(10),
      busy: async () => {
        await ticker.ask("fill", { count: 5_000, due: 84 });
        const { p50Ms, ran } = await ticker.ask<Ticked>("tick", { times: 1 });
        if (ran !== 84) throw new Error(`${ran} of 84 due tasks ran`);
        return { p50Ms };
      },
    });
    await ticker.stop();
    return [
      {
        goal: "TICK",
        what: "idle tick, 5,000 enabled tasks, p50",
        unit: "ms",
        ours: found.many.p50Ms,
        anchor: found.few.p50Ms,
        anchorName: "the same with 10",
        limit: { bound: "at most", of: "ratio", goal: 2, stretch: 1.2 },
      },
      {
        goal: "TICK",
        what: "tick with 84 of 5,000 tasks due",
        unit: "ms",
        ours: found.busy.p50Ms,
        limit: { bound: "at most", of: "figure", goal: 200 },
      },
    ];
  },
};
