import type { Context, Handler } from "@svc/mesh";
import { isUserName, links } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import { callInChunks } from "../server/chunked-call.ts";
import { contracts, findRow, type OwnershipDeps } from "./deps.ts";

type Contract = typeof contracts.listAllowlist;

export const listAllowlist =
  (deps: OwnershipDeps): Handler<Contract> =>
  async (context, { name }) => {
    if (!isUserName(name)) throw context.fault("bad_name");
    assertAccess(context, { name, row: await findRow(deps, name), to: contracts.listAllowlist });
    const players = await deps.lists.allowlist(name, deps.settings.allowlist_shown);
    const names = await namesOf(
      deps,
      context,
      players.map(({ mcUuid }) => mcUuid),
    );
    const entries = players.map(({ mcUuid, addedAt, canWake }) => {
      const username = names[mcUuid];
      const entry = { mc_uuid: mcUuid, added_at: addedAt.toISOString(), can_wake: canWake };
      return username === undefined ? entry : { ...entry, username };
    });
    return { server: name, entries };
  };

// Best effort: the list is useful without names too.
async function namesOf(
  { mesh }: OwnershipDeps,
  context: Context<Contract>,
  players: string[],
): Promise<Record<string, string>> {
  const ask = async (mc_uuids: string[]) => (await mesh.call(links.namePlayers, { mc_uuids }, context)).names;
  return callInChunks(players, ask).catch(() => ({}));
}
