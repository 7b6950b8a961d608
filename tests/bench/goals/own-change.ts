// OWN-CHANGE: a page of 100 out of 10,000 servers for who has just changed one of them (docs/reference/http.md#own-change).
// Ours: the shipped gateway-external, which lets its views catch up with their owner and makes its index again. A stand-in of
// lifecycle answers the change and writes its entry a moment later; it serves no fleet, so a page that asked for the
// whole list would fail here.
// Anchor: the same page from the view for who has changed nothing, asked when another change has arrived and the index is old
// enough to be made again: both make an index of 10,000 entries, only ours waits for an owner.

import { until } from "@svc/local-stack/testing";
import type { Bench, Goal } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import { fillFleet, fleetOf } from "../harness/session-fleet.ts";
import { interleave, median } from "../harness/statistics.ts";
import type { Answer } from "../load/http.ts";

const many = 10_000;
const turns = { usual: 20, quick: 4 };
/** A list of 10,000 may be so old for who has changed nothing. */
const restMs = 1_000;
const ownMs = 2_000;
const query = "?limit=100&sort=players&order=desc";

async function pageMs(bench: Bench, fixture: Fixture): Promise<number> {
  const { port, path, headers } = fleetOf(fixture, query);
  const plan = { host: "127.0.0.1", method: "GET", port, path, headers };
  const { status, ms } = await bench.load.ask<Answer>("once", plan);
  if (status !== 200) throw new Error(`a page was answered ${status}`);
  return ms;
}

async function changeOwn(bench: Bench, fixture: Fixture, turn: number): Promise<void> {
  const { port, headers } = fleetOf(fixture);
  const path = `/api/v1/servers/bench-${String(turn * 7).padStart(5, "0")}/stop`;
  const plan = { host: "127.0.0.1", method: "POST", port, path, headers };
  const { status } = await bench.load.ask<Answer>("once", plan);
  if (status !== 202) throw new Error(`a change was answered ${status}`);
}

const wait = (ms: number) => new Promise((wake) => setTimeout(wake, ms));

/** Pages after an own change, and after somebody else's. */
async function medianOf(count: number, page: (turn: number) => Promise<number>): Promise<{ ms: number }> {
  const found: number[] = [];
  for (let turn = 0; turn < count; turn += 1) found.push(await page(turn));
  return { ms: median(found) };
}

export const ownChange: Goal = {
  name: "OWN-CHANGE",
  title: "a page of 10,000 servers after one's own change",
  run: async (bench) => {
    const fixture = await bench.fixture();
    await fillFleet(bench, fixture, many);
    const count = bench.options.isQuick ? turns.quick : turns.usual;
    await until(async () => {
      await changeOwn(bench, fixture, 0);
      return pageMs(bench, fixture).catch(() => undefined);
    }, 20_000);
    const { own, other } = await interleave(bench.options.rounds, {
      own: () =>
        medianOf(count, async (turn) => {
          await changeOwn(bench, fixture, turn);
          return pageMs(bench, fixture);
        }),
      other: async () => {
        await wait(ownMs);
        return medianOf(count, async (turn) => {
          await fixture.lifecycle.ask("change", { index: turn * 7, players: 20 + turn });
          await wait(restMs);
          return pageMs(bench, fixture);
        });
      },
    });
    await fixture.lifecycle.ask("fill", 0);
    return [
      {
        goal: "OWN-CHANGE",
        what: "page of 100 out of 10,000 right after one's own change, p50",
        unit: "ms",
        ours: own.ms,
        anchor: other.ms,
        anchorName: "after another's",
        limit: { bound: "at most", of: "ratio", goal: 2, stretch: 1.5 },
      },
    ];
  },
};
