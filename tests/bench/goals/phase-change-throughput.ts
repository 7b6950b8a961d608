// G7: a state change, update and outbox row together.
// Ours: `changePhase` of services/lifecycle, the very function, in a process of its own with a pool of ten, on
// lifecycle's schema with 10,000 servers in a durable PostgreSQL. Anchor: pgbench with prepared statements (begin,
// update, insert, commit) on tables of the same size in the same database; where pgbench is not installed, the pg
// driver, and the table says so. Ours is one statement, so it saves round trips that pgbench makes, and changes that wait
// are committed in batches of up to 128, which pgbench's are not; the row beside it has each change in a commit of its own.
// No relay runs meanwhile, on either side.

import type { Bench, Goal } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import { prepareTxnAnchor, type TxnFigures } from "../harness/pgbench.ts";
import { interleave } from "../harness/statistics.ts";

function variants(
  bench: Bench,
  fixture: Fixture,
  run: (callers: number, seconds: number) => Promise<TxnFigures>,
) {
  const seconds = Math.max(1, Math.round(bench.windowMs / 1_000));
  return async (callers: number) => {
    const phases = await fixture.phases();
    await phases.ask("change", { callers, seconds: 1, isBatched: true });
    return interleave(bench.options.rounds, {
      ours: () => phases.ask<TxnFigures>("change", { callers, seconds, isBatched: true }),
      unbatched: () => phases.ask<TxnFigures>("change", { callers, seconds, isBatched: false }),
      anchor: () => run(callers, seconds),
    });
  };
}

export const phaseChangeThroughput: Goal = {
  name: "G7",
  title: "state change with its event",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const txn = await prepareTxnAnchor(fixture.databaseUrl);
    const at = variants(bench, fixture, txn.run);
    const [at1, at10] = [await at(1), await at(10)];
    const row = { goal: "G7", anchorName: `${txn.tool} txn` };
    return [
      {
        ...row,
        what: "phase change + outbox row, in batches, c10",
        unit: "/s",
        ours: at10.ours.perSecond,
        anchor: at10.anchor.perSecond,
        limit: { bound: "at least", of: "ratio", goal: 0.4, stretch: 0.8 },
      },
      {
        ...row,
        what: "the same, each change committed by itself, c10",
        unit: "/s",
        ours: at10.unbatched.perSecond,
        anchor: at10.anchor.perSecond,
      },
      {
        ...row,
        what: "phase change + outbox row, c1, p50",
        unit: "ms",
        ours: at1.ours.p50Ms,
        anchor: at1.anchor.p50Ms,
        limit: { bound: "at most", of: "ratio", goal: 2 },
      },
    ];
  },
};
