// G8: change committed -> event in the hands of another service, and how fast a full outbox drains.
// Ours: libs/store's outbox in a durable PostgreSQL, its relay woken by NOTIFY, libs/mesh publish to a JetStream
// stream in files, and a durable consumer of libs/mesh in a process of its own. Times are the machine's monotonic
// clock, from the moment that the commit returned. Anchor of the drain: bare JetStream publish, 100 in flight, same
// server, same body size. The relay reads and deletes its rows besides, which is why the goal is 0.3x.
// Unfair would be: a consumer in the publishing process, or PostgreSQL without fsync.

import { until } from "@svc/local-stack/testing";
import type { Bench, Goal } from "../harness/bench.ts";
import type { Child } from "../harness/child.ts";
import type { Fixture } from "../harness/fixture.ts";
import { interleave, quantile } from "../harness/statistics.ts";

async function delays(
  bench: Bench,
  fixture: Fixture,
  listener: Child,
): Promise<{ p50Ms: number; p99Ms: number }> {
  const count = bench.options.isQuick ? 100 : 400;
  const from = 1_000;
  // The first events pay for connecting; they are not counted.
  const [warmUp, counted] = [
    { from: 1, count: 20, everyMs: 5 },
    { from, count, everyMs: 7 },
  ];
  await fixture.identity.ask("commitEach", warmUp);
  const committedNs = await fixture.identity.ask<number[]>("commitEach", counted);
  const arrived = await until(
    async () => {
      const all = new Map(await listener.ask<[string, number][]>("arrived"));
      return all.size >= count + warmUp.count ? all : undefined;
    },
    30_000,
    "every event",
  );
  const waits = committedNs.map((at, index) => {
    const hash = (from + index).toString(16).padStart(64, "0");
    return Math.max(0, ((arrived.get(hash) ?? Number.POSITIVE_INFINITY) - at) / 1e6);
  });
  const sorted = Float64Array.from(waits).sort();
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

export const eventDelivery: Goal = {
  name: "G8",
  title: "from commit to the event in another service",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const listener = await fixture.listener();
    await fixture.identity.ask("startRelay");
    const wait = await delays(bench, fixture, listener);
    await listener.stop();
    const publisher = await fixture.anchors.publisher();
    const count = bench.options.isQuick ? 10_000 : 40_000;
    const body = JSON.stringify({
      hash: "0".repeat(64),
      user_id: "usr-bench",
      at: "2026-01-01T00:00:00.000Z",
    });
    await publisher.ask("publish", { count: 5_000, body });
    const found = await interleave(bench.options.rounds, {
      ours: () => fixture.identity.ask<{ perSecond: number }>("drain", count),
      bare: () => publisher.ask<{ perSecond: number }>("publish", { count, body }),
    });
    await fixture.identity.ask("stopRelay");
    await publisher.stop();
    return [
      {
        goal: "G8",
        what: "commit -> event received elsewhere, p50",
        unit: "ms",
        ours: wait.p50Ms,
        limit: { bound: "at most", of: "figure", goal: 25, stretch: 10 },
      },
      {
        goal: "G8",
        what: "commit -> event received elsewhere, p99",
        unit: "ms",
        ours: wait.p99Ms,
        limit: { bound: "at most", of: "figure", goal: 150 },
      },
      {
        goal: "G8",
        what: "outbox drained",
        unit: "events/s",
        ours: found.ours.perSecond,
        anchor: found.bare.perSecond,
        anchorName: "JetStream publish, 100 in flight",
        limit: { bound: "at least", of: "ratio", goal: 0.3 },
      },
    ];
  },
};
