// G2: the same at 10 and 100 callers at once, with everything a real request has: credential, headers, request log,
// metrics. Measured on both faces: the internal one with a service token, the external one with a session cookie
// (remembered by the gateway for at most 5 s, then asked of the identity stand-in again).
// Anchor: P2 without any of that. p99 is judged against P2 of the same run only: four busy processes on two cores put
// either p99 far above its p50.

import type { Bench, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";
import { p2, statusByToken } from "./request-latency.ts";

export function statusBySession(fixture: Fixture): Target {
  return {
    port: fixture.external.port,
    path: "/api/v1/servers/bench-gateway/status",
    headers: { cookie: fixture.cookie },
    pids: [fixture.external.pid, fixture.lifecycle.pid, fixture.identity.pid, fixture.natsPid],
  };
}

async function rowsAt(bench: Bench, targets: Record<"token" | "session" | "p2", Target>, callers: number) {
  const found = await interleave(bench.options.rounds, {
    token: () => measure(bench, targets.token, callers),
    session: () => measure(bench, targets.session, callers),
    p2: () => measure(bench, targets.p2, callers),
  });
  return (["token", "session"] as const).flatMap((by): Row[] => [
    {
      goal: "G2",
      what: `status with ${by}, c${callers}`,
      unit: "rps",
      ours: found[by].rps,
      anchor: found.p2.rps,
      anchorName: "P2",
      limit: { bound: "at least", of: "ratio", goal: 0.6, stretch: 0.75 },
      note: `CPU ${found[by].cpuUs.toFixed(0)} us a request, P2 ${found.p2.cpuUs.toFixed(0)}`,
    },
    {
      goal: "G2",
      what: `status with ${by}, c${callers}, p99`,
      unit: "ms",
      ours: found[by].p99Ms,
      anchor: found.p2.p99Ms,
      anchorName: "P2",
      limit: { bound: "at most", of: "ratio", goal: 1.5 },
    },
  ]);
}

export const requestThroughput: Goal = {
  name: "G2",
  title: "the same with many callers",
  run: async (bench) => {
    const fixture = await bench.fixture();
    await fixture.lifecycle.ask("fill", 0);
    const targets = { token: statusByToken(fixture), session: statusBySession(fixture), p2: p2(fixture) };
    for (const target of Object.values(targets)) await warm(bench, target);
    return [...(await rowsAt(bench, targets, 10)), ...(await rowsAt(bench, targets, 100))];
  },
};
