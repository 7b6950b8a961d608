import type { Mesh } from "@svc/mesh";
import { migrations as contracts } from "@svc/proto";
import type { MoveRow } from "../database/world-migrations.ts";
import type { StorageDeps } from "../deps.ts";
import { begin } from "./begin.ts";
import { cancel } from "./cancel.ts";
import { cleanUpCancelled } from "./cancel-cleanup.ts";
import { list, read, readLatest } from "./read.ts";
import { retry } from "./retry.ts";
import { stepMove } from "./step.ts";
import { findCancelled, findMoving } from "./store.ts";

export function serveMoves(mesh: Pick<Mesh, "serve">, deps: StorageDeps): void {
  mesh.serve(contracts.begin, begin(deps));
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.readLatest, readLatest(deps));
  mesh.serve(contracts.read, read(deps));
  mesh.serve(contracts.retry, retry(deps));
  mesh.serve(contracts.cancel, cancel(deps));
  mesh.serve(contracts.beginByOperator, begin(deps));
  mesh.serve(contracts.readByOperator, readLatest(deps));
  mesh.serve(contracts.retryByOperator, retry(deps));
  mesh.serve(contracts.cancelByOperator, cancel(deps));
}

/** One step of every move in progress or cancelled; one that fails does not block others. Returns whether there are any. */
export async function moveWorlds(deps: StorageDeps, signal?: AbortSignal): Promise<boolean> {
  const each = async (rows: MoveRow[], step: typeof stepMove) => {
    for (const row of rows) {
      if (signal?.aborted) return;
      await step(deps, row).catch((error: Error) =>
        deps.log.warn({ migration: row.id, error: error.message }, "move step failed; retrying"),
      );
    }
  };
  const moving = await findMoving(deps.db);
  await each(moving, stepMove);
  const cancelled = await findCancelled(deps.db);
  await each(cancelled, cleanUpCancelled);
  return moving.length + cancelled.length > 0;
}
