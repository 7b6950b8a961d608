import type { Mesh } from "@svc/mesh";
import { migrations as contracts } from "@svc/proto";
import type { StorageDeps } from "../job/deps.ts";
import { begin } from "./begin.ts";
import { read, readLatest } from "./read.ts";
import { retry } from "./retry.ts";
import { stepOne } from "./step.ts";
import { findMoving } from "./store.ts";

export function serveMigrations(mesh: Pick<Mesh, "serve">, deps: StorageDeps): void {
  mesh.serve(contracts.begin, begin(deps));
  mesh.serve(contracts.readLatest, readLatest(deps));
  mesh.serve(contracts.read, read(deps));
  mesh.serve(contracts.retry, retry(deps));
}

/** One look at every move under way; one that fails keeps no other waiting. */
export async function moveWorlds(deps: StorageDeps, signal?: AbortSignal): Promise<void> {
  for (const row of await findMoving(deps.db)) {
    if (signal?.aborted) return;
    await stepOne(deps, row).catch((error: Error) =>
      deps.log.warn({ migration: row.id, error: error.message }, "a move is left for the next look"),
    );
  }
}
