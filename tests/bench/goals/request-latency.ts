// G1: gateway -> owner -> reply without a database, one caller at a time.
// Ours: the shipped gateway-internal with its service token, request log and metrics; the owner is a stand-in that
// answers `lifecycle.server.read-status` out of memory through libs/mesh. The name asked is not in the view, so every
// request goes over the bus. Anchor P2: bare Fastify -> NATS -> process with zod on both sides, both ways, same
// nats-server, same reply. CPU is that of all processes on the path, nats-server included, the load generator not.
// Unfair would be: an anchor on a nats-server of its own (cold caches), or judging p50 at c1 on an idle VM whose cores
// sleep between requests (docs/performance.md); the CPU row tells then.

import type { Bench, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import { interleave } from "../harness/statistics.ts";

export function statusByToken(fixture: Fixture): Target {
  return {
    port: fixture.internal.port,
    path: "/api/v1/internal/servers/bench-gateway/status",
    headers: { authorization: fixture.authorization },
    pids: [fixture.internal.pid, fixture.lifecycle.pid, fixture.natsPid],
  };
}

export function p2(fixture: Fixture): Target {
  return {
    port: fixture.anchors.gateway.port,
    path: "/p2/bench-gateway",
    headers: {},
    pids: [fixture.anchors.gateway.pid, fixture.anchors.responder.pid, fixture.natsPid],
  };
}

export const requestLatency: Goal = {
  name: "G1",
  title: "gateway -> owner -> reply without a database",
  run: async (bench: Bench) => {
    const fixture = await bench.fixture();
    await fixture.lifecycle.ask("fill", 0);
    const [ours, anchor] = [statusByToken(fixture), p2(fixture)];
    await warm(bench, ours);
    await warm(bench, anchor);
    const at1 = await interleave(bench.options.rounds, {
      ours: () => measure(bench, ours, 1),
      anchor: () => measure(bench, anchor, 1),
    });
    const at100 = await interleave(bench.options.rounds, {
      ours: () => measure(bench, ours, 100),
      anchor: () => measure(bench, anchor, 100),
    });
    const row = { goal: "G1", anchorName: "P2" };
    return [
      {
        ...row,
        what: "status over the bus, c1, p50",
        unit: "ms",
        ours: at1.ours.p50Ms,
        anchor: at1.anchor.p50Ms,
        limit: { bound: "at most", of: "ratio", goal: 1.3, stretch: 1.15 },
      },
      {
        ...row,
        what: "CPU of all processes per request, c1",
        unit: "us",
        ours: at1.ours.cpuUs,
        anchor: at1.anchor.cpuUs,
        limit: { bound: "at most", of: "ratio", goal: 1.6, stretch: 1.3 },
      },
      {
        ...row,
        what: "CPU of all processes per request, c100",
        unit: "us",
        ours: at100.ours.cpuUs,
        anchor: at100.anchor.cpuUs,
        limit: { bound: "at most", of: "ratio", goal: 1.6, stretch: 1.3 },
      },
    ];
  },
};
