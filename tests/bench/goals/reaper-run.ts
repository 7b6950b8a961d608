// REAP: the daily run of storage with 2,000 servers due at once, four backups each (the decision phase stays
// below ten seconds). The run is the one that ships, over the bus, on a durable PostgreSQL; its worlds still run, so it
// lists them, judges each, describes it afresh, asks for its stop, and then orders the store. What is decided of a world
// at rest is measured apart, for no Job runs here. Unfair would be: servers that are not due, or a table without
// statistics.

import type { Goal } from "../harness/bench.ts";
import { interleave } from "../harness/statistics.ts";

export const reaperRun: Goal = {
  name: "REAP",
  title: "the daily run with 2,000 servers due",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const daily = await fixture.reaper();
    const count = bench.options.isQuick ? 200 : 2_000;
    await fixture.lifecycle.ask("due", count);
    await daily.ask("fill", { count });
    const found = await interleave<string, Record<string, number>>(bench.options.rounds, {
      run: async () => {
        const { seconds, looked } = await daily.ask<{ seconds: number; looked: number }>("run");
        if (looked !== count) throw new Error(`${looked} of ${count} due servers were looked at`);
        return { seconds };
      },
      decide: () => daily.ask<{ seconds: number }>("decide", { count }),
      choose: () => daily.ask<{ ms: number }>("choose"),
    });
    await daily.stop();
    await fixture.lifecycle.ask("due", 0);
    const row = { goal: "REAP", unit: "s" };
    const limit = { bound: "at most", of: "figure", goal: 10 } as const;
    return [
      { ...row, what: "a run over them, none at rest", ours: found["run"]?.["seconds"] ?? Number.NaN, limit },
      { ...row, what: "decisions once they are", ours: found["decide"]?.["seconds"] ?? Number.NaN, limit },
      {
        goal: "REAP",
        what: "what goes from a full store, once",
        unit: "ms",
        ours: found["choose"]?.["ms"] ?? Number.NaN,
      },
    ];
  },
};
