// G6: a page of 100 out of 10,000 servers, as the panel asks for it with a session.
// Ours: the shipped gateway-external, which cuts pages from the mirrored views. In turn it is asked for all hundred pages,
// more than it keeps, so that each is joined anew; one page asked again is kept bytes, as is every page of 100 servers.
// Anchor: bare Fastify that cuts and encodes a page of 100 out of 10,000 for each request.

import type { Bench, Goal, Sample, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import type { Row } from "../harness/report.ts";
import { fillFleet, fleetOf } from "../harness/session-fleet.ts";
import { interleave } from "../harness/statistics.ts";

const callers = 10;
const few = 100;
const many = 10_000;
const pages = Array.from({ length: many / 100 }, (_, page) => `?limit=100&offset=${page * 100}`);
const middle = "?limit=100&offset=5000";

async function sampleFew(bench: Bench, fixture: Fixture): Promise<Sample> {
  await fillFleet(bench, fixture, few);
  const page = fleetOf(fixture, "?limit=100&offset=0");
  await warm(bench, page);
  return (await interleave(bench.options.rounds, { page: () => measure(bench, page, callers) })).page;
}

async function searched(bench: Bench, fixture: Fixture): Promise<Sample> {
  const page = fleetOf(fixture, "?query=bench&sort=players&order=desc&limit=50&offset=50");
  await warm(bench, page);
  return measure(bench, page, callers);
}

export const fleetPage: Goal = {
  name: "G6",
  title: "pages of 10,000 servers",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const small = await sampleFew(bench, fixture);
    const smallSearched = await searched(bench, fixture);
    await fillFleet(bench, fixture, many);
    const lists = await fixture.anchors.lists();
    const bare: Target = { port: lists.port, path: "/page", headers: {}, pids: [lists.pid] };
    const kept = fleetOf(fixture, middle);
    const inTurn = { ...kept, paths: pages.map((query) => fleetOf(fixture, query).path) };
    for (const one of [bare, kept, inTurn]) await warm(bench, one);
    const found = await interleave(bench.options.rounds, {
      bare: () => measure(bench, bare, callers),
      kept: () => measure(bench, kept, callers),
      inTurn: () => measure(bench, inTurn, callers),
    });
    await lists.stop();
    const largeSearched = await searched(bench, fixture);
    await fixture.lifecycle.ask("fill", 0);
    return [...rowsOf(found, small), searchRow(largeSearched, smallSearched)];
  },
};

function rowsOf(found: Record<"bare" | "kept" | "inTurn", Sample>, small: Sample): Row[] {
  const anchor = { anchor: found.bare.cpuUs, anchorName: "Fastify page" };
  const limit = { bound: "at most", of: "ratio", goal: 3, stretch: 2 } as const;
  const cpu = { goal: "G6", unit: "us", ...anchor, limit } as const;
  return [
    {
      ...cpu,
      what: "page of 100 out of 10,000, all pages in turn, CPU",
      ours: found.inTurn.cpuUs,
      note: `${found.inTurn.rps.toFixed(0)} rps, p50 ${found.inTurn.p50Ms.toFixed(2)} ms`,
    },
    { ...cpu, what: "the same page again, CPU", ours: found.kept.cpuUs },
    {
      goal: "G6",
      what: "page of 100, p99 at 10,000 servers",
      unit: "ms",
      ours: found.kept.p99Ms,
      anchor: small.p99Ms,
      anchorName: `${few} servers`,
      limit: { bound: "at most", of: "ratio", goal: 1.3 },
    },
  ];
}

function searchRow(large: Sample, small: Sample): Row {
  return {
    goal: "G6",
    what: "page of 50 of 10,000, searched and sorted, CPU",
    unit: "us",
    ours: large.cpuUs,
    anchor: small.cpuUs,
    anchorName: `${few} servers`,
    limit: { bound: "at most", of: "ratio", goal: 1.2 },
    note: `p50 ${large.p50Ms.toFixed(2)} ms`,
  };
}
