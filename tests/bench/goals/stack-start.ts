// The embedded stack (docs/reference/local-stack.md#parts) as somebody who tries svc has it: from `npm run up` on data that
// is there already to the end of the command, and what all its processes hold and use while 61 servers are stopped and
// nobody asks for anything. Memory is proportional (PSS): pages shared by n processes count as 1/n.
// Unfair would be: a first start, which makes a database cluster and fills the code cache; a look at memory before the
// processes have collected what their start left behind.

import type { Goal } from "../harness/bench.ts";
import { peer } from "../harness/peer.ts";
import { proportionalMb, watchCpu, withDescendants } from "../harness/process-stats.ts";
import { median } from "../harness/statistics.ts";

const servers = 61;
const settleMs = 70_000;
const idleMs = 60_000;

const wait = (ms: number) => new Promise((wake) => setTimeout(wake, ms));

export const stackStart: Goal = {
  name: "G26",
  covers: ["PEER"],
  title: "start, memory and idle processor time of the whole stack",
  run: async (bench) => {
    const { isQuick, rounds } = bench.options;
    const stack = await bench.stack();
    for (let number = 1; number <= servers; number += 1) await stack.ensureServer(`stopped-${number}`);
    const took: number[] = [];
    for (let round = 0; round < (isQuick ? 1 : rounds); round += 1) took.push(await stack.restart());
    await wait(settleMs);
    const pids = withDescendants([stack.supervisorPid()]);
    const megabytes = pids.reduce((total, pid) => total + proportionalMb(pid), 0);
    const windowMs = isQuick ? idleMs / 4 : idleMs;
    const used = watchCpu([stack.supervisorPid()]);
    await wait(windowMs);
    return [
      {
        goal: "G26",
        what: "svc up on existing data",
        unit: "s",
        ours: median(took) / 1_000,
        peer: peer.startOnExistingData.seconds,
        limit: { bound: "at most", of: "figure", goal: 3 },
      },
      {
        goal: "G26",
        what: "memory of the whole stack, idle (PSS)",
        unit: "MB",
        ours: megabytes,
        peer: peer.idle.megabytes,
        limit: { bound: "at most", of: "figure", goal: 600, stretch: 450 },
        note: `${pids.length} processes`,
      },
      {
        goal: "G26",
        what: `idle with ${servers} stopped servers`,
        unit: "core",
        ours: used() / (windowMs * 1_000),
        peer: peer.idle.cores,
        limit: { bound: "at most", of: "figure", goal: 0.02 },
      },
    ];
  },
};
