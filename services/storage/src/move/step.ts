// One pass over one move: observe, decide, act.

import { isKubeError } from "@svc/kube";
import type { MoveRow } from "../database/world-migrations.ts";
import type { StorageDeps } from "../deps.ts";
import { actOnMove, failMove } from "./act.ts";
import { decideMove } from "./decide.ts";
import { observeMove } from "./observe.ts";

export async function stepMove(deps: StorageDeps, row: MoveRow): Promise<void> {
  try {
    const observed = await observeMove(deps, row);
    if (!observed) return;
    await actOnMove(deps, row, decideMove(observed, row, deps.settings.storage.move_start_patience));
  } catch (error) {
    const isRefusedForGood = isKubeError(error, 403) || isKubeError(error, 422);
    if (!isRefusedForGood || row.locked_at === null) throw error;
    await failMove(deps, row, (error as Error).message);
  }
}
