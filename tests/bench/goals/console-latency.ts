// G12: a line from the cluster's log to an SSE viewer, and a command to its echo. Ours: lifecycle's follower on a log
// endpoint as Kubernetes has it, NATS with the line kept in files, the real external gateway. One console, 20 lines a
// second, so that each line pays for waking every process on its way. Times are the machine's monotonic clock.
// Not in it: the node agent of the embedded cluster, which G25 measures along with all else on the local stack.

import type { Bench, Goal } from "../harness/bench.ts";
import { type Consoles, closeViewers, openViewers, startConsoles, watchPace } from "../harness/consoles.ts";
import { stamp } from "../harness/line-rate.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";

type Port = { port: number };

async function echoes(
  bench: Bench,
  consoles: Consoles,
  { port }: Port,
): Promise<{ p50Ms: number; p99Ms: number }> {
  await consoles.viewers.ask("take");
  const { host = "", ...headers } = consoles.headers;
  const url = { host: "127.0.0.1", port, method: "POST", path: "/api/v1/servers/bench-line/command" };
  for (let n = 0; n < (bench.options.isQuick ? 20 : 60); n += 1) {
    const body = JSON.stringify({ command: `say ${stamp()}` });
    const { status } = await bench.load.ask<{ status: number }>("once", {
      ...url,
      headers: { host, ...headers },
      body,
    });
    if (status !== 200) throw new Error(`a command answered ${status}`);
  }
  return consoles.viewers.ask("take");
}

function rowsOf(line: { p50Ms: number; p99Ms: number }, echo: { p50Ms: number }): Row[] {
  const about = { goal: "G12", unit: "ms" };
  return [
    {
      ...about,
      what: "console line, log -> SSE viewer, p50",
      ours: line.p50Ms,
      limit: { bound: "at most", of: "figure", goal: 5, stretch: 3 },
    },
    {
      ...about,
      what: "console line, log -> SSE viewer, p99",
      ours: line.p99Ms,
      limit: { bound: "at most", of: "figure", goal: 30, stretch: 15 },
    },
    {
      ...about,
      what: "command -> its echo at a viewer, p50",
      ours: echo.p50Ms,
      limit: { bound: "at most", of: "figure", goal: 15 },
    },
  ];
}

export const consoleLatency: Goal = {
  name: "G12",
  title: "a console line, and a command's echo",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const consoles = await startConsoles(fixture);
    try {
      const { port } = fixture.external;
      const paths = ["/api/v1/servers/bench-line/console"];
      await openViewers(consoles.viewers, { port, paths, headers: consoles.headers });
      const plan = { names: ["bench-line"], perSecond: 20, seconds: Math.max(2, bench.windowMs / 1_000) };
      await watchPace(consoles.cluster, consoles.viewers, plan);
      const found = await interleave(bench.options.rounds, {
        line: () => watchPace(consoles.cluster, consoles.viewers, plan),
        echo: () => echoes(bench, consoles, { port }),
      });
      await closeViewers(consoles.viewers);
      return rowsOf(found.line, found.echo);
    } finally {
      await consoles.stop();
    }
  },
};
