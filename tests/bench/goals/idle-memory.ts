// G22: resident memory of each service of an idle stack, some seconds after a start with warm code caches (the second
// `svc up`). A first start compiles the sources and stays about 30 MB above that until the process is started again.
// The peer's processes hold 126 to 130 MB. The proportional figure counts pages shared between the services once.

import { chooseServices } from "@svc/local-stack";
import type { Goal } from "../harness/bench.ts";
import { proportionalMb, residentMb } from "../harness/process-stats.ts";

const settleMs = 10_000;

export const idleMemory: Goal = {
  name: "G22",
  title: "memory of idle services",
  run: async (bench) => {
    const stack = await bench.stack();
    await stack.restart();
    await new Promise((wake) => setTimeout(wake, bench.options.isQuick ? settleMs / 2 : settleMs));
    return [...chooseServices({}).keys()].map((name) => ({
      goal: "G22",
      what: `${name}, idle`,
      unit: "MB",
      ours: residentMb(stack.pidOf(name)),
      limit: { bound: "at most", of: "figure", goal: 130, stretch: 100 },
      note: `proportional ${proportionalMb(stack.pidOf(name)).toFixed(0)} MB`,
    }));
  },
};
