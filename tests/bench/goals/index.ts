// The goals in the order in which they run: those of the cell first, those of the whole stack after it.

import type { Goal } from "../harness/bench.ts";
import { accounts } from "./accounts.ts";
import { fleet } from "./fleet.ts";
import { g1 } from "./g1.ts";
import { g2 } from "./g2.ts";
import { g3 } from "./g3.ts";
import { g5 } from "./g5.ts";
import { g7 } from "./g7.ts";
import { g8 } from "./g8.ts";
import { g9 } from "./g9.ts";
import { g10 } from "./g10.ts";
import { g11 } from "./g11.ts";
import { g12 } from "./g12.ts";
import { g13 } from "./g13.ts";
import { g14 } from "./g14.ts";
import { g21 } from "./g21.ts";
import { g22 } from "./g22.ts";
import { g22Gateway } from "./g22-gateway.ts";
import { limbo } from "./limbo.ts";
import { reaper } from "./reaper.ts";
import { relay } from "./relay.ts";
import { start } from "./start.ts";
import { tick } from "./tick.ts";
import { transfers } from "./transfers.ts";
import { viewers } from "./viewers.ts";
import { wake } from "./wake.ts";
import { wakeIn } from "./wake-in.ts";
import { worlds } from "./worlds.ts";

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
