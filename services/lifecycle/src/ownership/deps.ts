import { ownership as contracts, Fault, isNameShape, isUserName, systemNames } from "@svc/proto";
import type { ServerRow } from "../database/server-row.ts";
import { adoptionOf } from "../server/adoption.ts";
import { findByAnyName, type ServerDeps } from "../server/deps.ts";
import type { ListStore } from "./list-store.ts";
import type { OwnershipStore } from "./store.ts";

export type OwnershipDeps = ServerDeps & {
  ownership: OwnershipStore;
  lists: ListStore;
  /** Runs at most as many claims at a time as the settings allow. */
  limitClaims: <T>(work: () => Promise<T>) => Promise<T>;
};

export { contracts };

/** A name in the path of a retirement: names of the platform have a fault of their own (docs/reference/server-resource.md#names). */
export function assertRetirable(name: string): void {
  if (systemNames.has(name)) throw new Fault("system_server");
  if (!isUserName(name)) throw new Fault("bad_name");
}

/** The row of a server; created here for an object whose row the leader has not created yet. Throws `not_found`. */
export async function findRow(deps: ServerDeps, name: string): Promise<ServerRow> {
  if (!isNameShape(name)) throw new Fault("bad_name");
  const row = await deps.store.find(name);
  if (row) return row;
  const server = await findByAnyName(deps, name);
  const adoption = adoptionOf(server, Date.now());
  await deps.store.adopt(adoption);
  return (
    (await deps.store.find(name)) ?? { ownerId: undefined, retiring: undefined, offered: adoption.offered }
  );
}
