// The embedded stack (docs/reference/local-stack.md#parts): from `svc up` on data that is there already to the end of the command, and
// what all its processes hold in memory then. Resident memory counts shared pages once per process, so the sum is
// above what the machine gives; the proportional sum (PSS) is told beside it.
// The goal allows the seven services and what they stand on 1,300 MB, and proxy, gate and lobby 100 MB each.
// Unfair would be: a first start, which makes a database cluster and fills the code cache.

import type { Goal } from "../harness/bench.ts";
import { peer } from "../harness/peer.ts";
import { proportionalMb, residentMb, withDescendants } from "../harness/process-stats.ts";
import { median } from "../harness/statistics.ts";

const settleMs = 5_000;

export const stackStart: Goal = {
  name: "START",
  covers: ["PEER"],
  title: "start and size of the whole stack",
  run: async (bench) => {
    const stack = await bench.stack();
    const took: number[] = [];
    for (let round = 0; round < (bench.options.isQuick ? 1 : bench.options.rounds); round += 1)
      took.push(await stack.restart());
    await new Promise((wake) => setTimeout(wake, settleMs));
    const pids = withDescendants([stack.supervisorPid()]);
    const sum = (of: (pid: number) => number) => pids.reduce((total, pid) => total + of(pid), 0);
    return [
      {
        goal: "START",
        what: "svc up on existing data",
        unit: "s",
        ours: median(took) / 1_000,
        peer: peer.startOnExistingData.seconds,
        limit: { bound: "at most", of: "figure", goal: 8 },
      },
      {
        goal: "START",
        what: "all processes of the stack, resident",
        unit: "MB",
        ours: sum(residentMb),
        limit: { bound: "at most", of: "figure", goal: 1_600 },
        note: `${pids.length} processes, proportional ${sum(proportionalMb).toFixed(0)} MB`,
      },
    ];
  },
};
