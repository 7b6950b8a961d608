// G1: gateway -> owner -> reply without a database, one caller at a time.
// Ours: the shipped gateway-internal with its service token, request log and metrics; the owner is a stand-in that
// answers `lifecycle.server.read-status` out of memory through libs/mesh. The name asked is not in the view, so every
// request goes over the bus. Anchor P2: bare Fastify -> NATS -> process with zod on both sides, both ways, same
// nats-server, same reply. CPU is that of all processes on the path, nats-server included, the load generator not.
// Unfair would be: an anchor on a nats-server of its own (cold caches), or judging p50 at c1 on an idle VM whose cores
// sleep between requests (performance.md, traps); the CPU row tells then.

import type { Arena, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { Cell } from "../harness/fixture.ts";
import { interleave } from "../harness/statistics.ts";

export function statusByToken(cell: Cell): Target {
  return {
    port: cell.internal.port,
    path: "/api/v1/internal/servers/bench-gateway/status",
    headers: { authorization: cell.authorization },
    pids: [cell.internal.pid, cell.lifecycle.pid, cell.natsPid],
  };
}

export function p2(cell: Cell): Target {
  return {
    port: cell.anchors.gateway.port,
    path: "/p2/bench-gateway",
    headers: {},
    pids: [cell.anchors.gateway.pid, cell.anchors.responder.pid, cell.natsPid],
  };
}

export const g1: Goal = {
  name: "G1",
  title: "gateway -> owner -> reply without a database",
  run: async (arena: Arena) => {
    const cell = await arena.cell();
    await cell.lifecycle.ask("fill", 0);
    const [ours, anchor] = [statusByToken(cell), p2(cell)];
    await warm(arena, ours);
    await warm(arena, anchor);
    const at1 = await interleave(arena.options.rounds, {
      ours: () => measure(arena, ours, 1),
      anchor: () => measure(arena, anchor, 1),
    });
    const at100 = await interleave(arena.options.rounds, {
      ours: () => measure(arena, ours, 100),
      anchor: () => measure(arena, anchor, 100),
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
