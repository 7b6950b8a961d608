// Display names of owners: identity knows the accounts and their players, this service the names of players.

import type { CallOptions, Mesh } from "@svc/mesh";
import { accounts } from "@svc/proto";
import { callInChunks } from "./chunked-call.ts";
import { noOwnerNames, type OwnerFacts, type OwnerNames } from "./server-ownership.ts";

type Deps = {
  mesh: Pick<Mesh, "call">;
  playerNames: (uuids: readonly string[]) => Promise<Record<string, string>>;
};

/** Names of accounts. Rejects while identity or the database cannot be asked. */
export async function findOwnerNames(
  { mesh, playerNames }: Deps,
  accountIds: readonly string[],
  options: CallOptions = {},
): Promise<OwnerNames> {
  if (accountIds.length === 0) return noOwnerNames;
  const owners = await callInChunks(accountIds, async (user_ids) => {
    const { names, players } = await mesh.call(accounts.nameAccounts, { user_ids }, options);
    const known = Object.entries(names).map(([id, name]) => [id, { name, players: players[id] ?? [] }]);
    return Object.fromEntries(known) as Record<string, OwnerFacts>;
  });
  const uuids = Object.values(owners).flatMap(({ players }) => players);
  return { owners, playerNames: await playerNames(uuids) };
}
