// G25: the console on the local stack, from the write of a running game server to an SSE viewer, and a command to its echo.
// All of `svc up` is on the way: the node agent's log clock, the embedded API server, lifecycle, NATS, the gateway.
// The lines are appended to the log file of the server's container, which is what its process does. 20 lines a second,
// so that every line finds a console at rest; the peer's figure is of the same path in its daemon and panel.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { closeViewers, openViewers } from "../harness/consoles.ts";
import { pace, stamp } from "../harness/line-rate.ts";
import { peer } from "../harness/peer.ts";
import type { BenchStack } from "../harness/stack.ts";
import { interleave } from "../harness/statistics.ts";
import type { StreamResult } from "../load/streams.ts";
import { consoleServer, startConsoleServer } from "../subjects/console-server.ts";

const perSecond = 20;
const settleMs = 300;

async function lines(viewers: Child, log: string, seconds: number): Promise<StreamResult> {
  await viewers.ask("take");
  await pace({ names: [consoleServer], perSecond, seconds }, (_, line) => appendFileSync(log, `${line}\n`));
  await new Promise((wake) => setTimeout(wake, settleMs));
  return viewers.ask<StreamResult>("take");
}

async function echoes(bench: Bench, stack: BenchStack, viewers: Child): Promise<StreamResult> {
  await viewers.ask("take");
  const path = `/api/v1/servers/${consoleServer}/command`;
  const plan = { host: "127.0.0.1", method: "POST", path, ...stack.owner };
  for (let n = 0; n < (bench.options.isQuick ? 20 : 60); n += 1) {
    const body = JSON.stringify({ command: `say ${stamp()}` });
    const { status } = await bench.load.ask<{ status: number }>("once", { ...plan, body });
    if (status !== 200) throw new Error(`a command answered ${status}`);
  }
  return viewers.ask<StreamResult>("take");
}

async function measureConsole(bench: Bench, stack: BenchStack) {
  const log = await startConsoleServer(stack);
  const viewers = await startChild("load/streams.ts", { logDir: join(stack.dir, "logs") });
  try {
    const { port, headers } = stack.owner;
    await openViewers(viewers, { port, paths: [`/api/v1/servers/${consoleServer}/console`], headers });
    const seconds = Math.max(2, bench.windowMs / 1_000);
    await lines(viewers, log, seconds);
    const found = await interleave(bench.options.rounds, {
      line: () => lines(viewers, log, seconds),
      echo: () => echoes(bench, stack, viewers),
    });
    await closeViewers(viewers);
    return found;
  } finally {
    await viewers.stop();
    await stack.external("POST", `/api/v1/servers/${consoleServer}/stop`);
  }
}

export const localConsole: Goal = {
  name: "G25",
  covers: ["PEER"],
  title: "the console of the local stack",
  run: async (bench) => {
    const { line, echo } = await measureConsole(bench, await bench.stack());
    const about = { goal: "G25", unit: "ms" };
    return [
      {
        ...{ ...about, what: "console line, process -> viewer, p50" },
        ...{ ours: line.p50Ms, peer: peer.consoleLine.p50Ms },
        limit: { bound: "at most", of: "figure", goal: 5, stretch: 3 },
        note: `${line.lines} lines a round`,
      },
      {
        ...{ ...about, what: "console line, process -> viewer, p99", ours: line.p99Ms },
        limit: { bound: "at most", of: "figure", goal: 30, stretch: 15 },
      },
      {
        ...{ ...about, what: "command -> its echo at a viewer, p50", ours: echo.p50Ms },
        limit: { bound: "at most", of: "figure", goal: 15 },
      },
    ];
  },
};
