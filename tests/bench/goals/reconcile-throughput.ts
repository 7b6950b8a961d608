// G10: passes of the reconciler. Ours: the shipped reconciler, queue and projection over 10,000 servers in a process of
// their own; the cluster is a map that answers at once, so that our own time is measured and not the cluster's. A pass
// that changes something ends with its phase and event in PostgreSQL. Anchor: pgbench as in G7.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { prepareTxnAnchor } from "../harness/pgbench.ts";
import { interleave } from "../harness/statistics.ts";

const count = 10_000;

/** A reconciler in a process of its own. */
export async function withReconciler<T>(databaseUrl: string, use: (child: Child) => Promise<T>): Promise<T> {
  const logDir = mkdtempSync(join(tmpdir(), "svc-bench-reconciler-"));
  const child = await startChild("subjects/reconciler.ts", {
    env: { SVC_DATABASE_URL: databaseUrl },
    logDir,
  });
  try {
    return await use(child);
  } finally {
    await child.stop();
    rmSync(logDir, { recursive: true, force: true });
  }
}

type NoChange = { perSecond: number; resyncMs: number; cores: number };

async function measure(bench: Bench) {
  const fixture = await bench.fixture();
  await fixture.phases();
  const txn = await prepareTxnAnchor(fixture.databaseUrl);
  const seconds = Math.max(1, Math.round(bench.windowMs / 1_000));
  return withReconciler(fixture.databaseUrl, async (child) => {
    const passes = await interleave(bench.options.rounds, {
      none: () => child.ask<NoChange>("noChange", { count, seconds }),
    });
    const changes = await interleave(bench.options.rounds, {
      ours: () => child.ask<{ perSecond: number }>("changing", { count: 2_000, seconds }),
      anchor: async () => ({ perSecond: (await txn.run(10, seconds)).perSecond }),
    });
    return { ...passes, ...changes, tool: txn.tool };
  });
}

export const reconcileThroughput: Goal = {
  name: "G10",
  title: "passes over 10,000 servers",
  run: async (bench) => {
    const { none, ours, anchor, tool } = await measure(bench);
    return [
      {
        goal: "G10",
        what: "passes that change nothing",
        unit: "/s",
        ours: none.perSecond,
        limit: { bound: "at least", of: "figure", goal: 5_000 },
      },
      {
        goal: "G10",
        what: "full resync of 10,000",
        unit: "s",
        ours: none.resyncMs / 1_000,
        limit: { bound: "at most", of: "figure", goal: 10, stretch: 5 },
        note: `${none.cores.toFixed(2)} core`,
      },
      {
        goal: "G10",
        what: "changes of phase, recorded with their event",
        unit: "/s",
        ours: ours.perSecond,
        anchor: anchor.perSecond,
        anchorName: `${tool} txn`,
        limit: { bound: "at least", of: "ratio", goal: 0.4 },
      },
    ];
  },
};
