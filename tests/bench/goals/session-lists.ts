// G4, G23: what a signed-in browser polls, at 10 callers: one's own list, the fleet and the status of a server.
// Ours: the shipped gateway-external with mirrors of the views `servers` and `server-owners`, which a stand-in of lifecycle
// writes through libs/mesh; every second server of the list is the caller's, the others can be claimed.
// The peer's figures are those of MCSManager 10.8 for the same page, recorded on the reference machine beside svc; CPU
// compares across runs better than requests a second. Anchors of the same run: P1 (Fastify, NATS, responder) for the tail, P2 (P1
// with zod) for the rate. The fleet is flat when 1,000 servers cost no more than 50: unchanged as 304; whole it is
// bytes, 600 for each server.

import type { Bench, Goal, Sample, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import { peer } from "../harness/peer.ts";
import type { Row } from "../harness/report.ts";
import { fillFleet, fleetOf, sessionTarget } from "../harness/session-fleet.ts";
import { interleave } from "../harness/statistics.ts";
import { p2 } from "./request-latency.ts";

const callers = 10;
const recorded = { list: peer.listOf50, status: peer.status };
const timesPeer = { list: { goal: 2, stretch: 4 }, status: { goal: 1.2, stretch: 2 } };
const goalUs = { list: 580, status: 300 };

const own = (fixture: Fixture) => sessionTarget(fixture, "/api/v1/me/servers");
const status = (fixture: Fixture) => sessionTarget(fixture, "/api/v1/servers/bench-00000/status");
const p1 = (fixture: Fixture): Target => ({ ...p2(fixture), path: "/p1/bench-gateway" });

function rowsOf(what: string, kind: "list" | "status", found: Record<"ours" | "p1" | "p2", Sample>): Row[] {
  const { ours } = found;
  return [
    {
      goal: "G23",
      what: `${what}, c${callers}, CPU`,
      unit: "us",
      ours: ours.cpuUs,
      peer: recorded[kind].cpuUs,
      limit: { bound: "at most", of: "figure", goal: goalUs[kind] },
      note: `${ours.rps.toFixed(0)} rps`,
    },
    {
      goal: "G4",
      what: `${what}, c${callers}`,
      unit: "rps",
      ours: ours.rps,
      anchor: found.p2.rps,
      anchorName: "P2",
      peer: recorded[kind].rps,
      limit: { bound: "at least", of: "peer", ...timesPeer[kind] },
    },
    {
      goal: "G23",
      what: `${what}, c${callers}, p99`,
      unit: "ms",
      ours: ours.p99Ms,
      anchor: found.p1.p99Ms,
      anchorName: "P1",
      limit: { bound: "at most", of: "ratio", goal: 1.5 },
    },
  ];
}

async function growthRows(bench: Bench, fixture: Fixture): Promise<Row[]> {
  const unchanged = async (count: number): Promise<Sample> => {
    const tag = await fillFleet(bench, fixture, count);
    const poll = fleetOf(fixture);
    const same = { ...poll, headers: { ...poll.headers, "if-none-match": tag }, expectStatus: 304 };
    return measure(bench, same, callers);
  };
  const found = await interleave(bench.options.rounds, {
    few: () => unchanged(50),
    many: () => unchanged(1_000),
  });
  await fillFleet(bench, fixture, 1_000);
  await warm(bench, fleetOf(fixture));
  const whole = await measure(bench, fleetOf(fixture), 4);
  return [
    {
      goal: "G23",
      what: "unchanged fleet of 1,000, CPU",
      unit: "us",
      ours: found.many.cpuUs,
      anchor: found.few.cpuUs,
      anchorName: "50 servers",
      limit: { bound: "at most", of: "ratio", goal: 1.2 },
    },
    {
      goal: "G23",
      what: "whole fleet of 1,000, c4, CPU",
      unit: "us",
      ours: whole.cpuUs,
      note: `${whole.rps.toFixed(0)} rps, p50 ${whole.p50Ms.toFixed(1)} ms`,
    },
  ];
}

export const sessionLists: Goal = {
  name: "G23",
  covers: ["G4", "PEER"],
  title: "lists and status with a session",
  run: async (bench) => {
    const fixture = await bench.fixture();
    await fillFleet(bench, fixture, 50);
    const targets = { own: own(fixture), fleet: fleetOf(fixture), status: status(fixture) };
    const anchors = { p1: p1(fixture), p2: p2(fixture) };
    for (const one of [...Object.values(targets), ...Object.values(anchors)]) await warm(bench, one);
    const found = await interleave(bench.options.rounds, {
      own: () => measure(bench, targets.own, callers),
      fleet: () => measure(bench, targets.fleet, callers),
      status: () => measure(bench, targets.status, callers),
      p1: () => measure(bench, anchors.p1, callers),
      p2: () => measure(bench, anchors.p2, callers),
    });
    const rows = [
      ...rowsOf("own list of 50 with a session", "list", { ...found, ours: found.own }),
      ...rowsOf("fleet of 50 with a session", "list", { ...found, ours: found.fleet }),
      ...rowsOf("status with a session", "status", { ...found, ours: found.status }),
      ...(await growthRows(bench, fixture)),
    ];
    await fixture.lifecycle.ask("fill", 0);
    return rows;
  },
};
