// The goals in the order in which they run: those of the cell first, those of the whole stack after it.

import type { Goal } from "../harness/bench.ts";
import { accounts } from "./account-queries.ts";
import { g9 } from "./cluster-change-visibility.ts";
import { g13 } from "./console-fan-out.ts";
import { g12 } from "./console-latency.ts";
import { g8 } from "./event-delivery.ts";
import { fleet } from "./fleet.ts";
import { g22Gateway } from "./gateway-memory.ts";
import { g22 } from "./idle-memory.ts";
import { limbo } from "./idle-player-memory.ts";
import { g7 } from "./phase-change-throughput.ts";
import { g11 } from "./player-count.ts";
import { wakeIn } from "./player-join.ts";
import { relay } from "./proxy-relay.ts";
import { reaper } from "./reaper-run.ts";
import { g10 } from "./reconcile-throughput.ts";
import { g1 } from "./request-latency.ts";
import { g2 } from "./request-throughput.ts";
import { tick } from "./schedule-tick.ts";
import { g5 } from "./server-list.ts";
import { g3 } from "./server-status.ts";
import { wake } from "./server-wake.ts";
import { g21 } from "./service-boot.ts";
import { start } from "./stack-start.ts";
import { g14 } from "./start-stop-latency.ts";
import { transfers } from "./transfers.ts";
import { viewers } from "./viewers-per-console.ts";
import { worlds } from "./world-archives.ts";

export const goals: readonly Goal[] = [
  g1,
  g2,
  g5,
  g7,
  g8,
  g10,
  g11,
  g12,
  g13,
  viewers,
  tick,
  accounts,
  reaper,
  relay,
  limbo,
  g22Gateway,
  start,
  g22,
  g21,
  g3,
  wake,
  wakeIn,
  g9,
  g14,
  fleet,
  worlds,
  transfers,
];
