// What is kept about a player of the caller, and its end (docs/reference/players.md#own).

import type { Handler } from "@svc/mesh";
import { Fault, knownPlayers, type links, type playerData } from "@svc/proto";
import { lockLiveAccount } from "../account/store.ts";
import type { IdentityDb } from "../database.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import { listLinksOf, toLinkedAccount } from "../link/store.ts";
import { getAccount } from "../principal.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Needs = Deps & Pick<ServiceDeps, "mesh">;

/** identity.player-data.read */
export function createReadPlayerData({ db, mesh, now }: Needs): Handler<typeof playerData.read> {
  return async (context, { mc_uuid }) => {
    const { user_id: userId } = getAccount(context.principal);
    const { auth_source, verified_at } = await getOwnLink(db, { userId, mcUuid: mc_uuid });
    const kept = await mesh.call(knownPlayers.readData, { mc_uuid }, context);
    const link = { auth_source: auth_source as links.AuthSource, verified_at };
    return { mc_uuid, read_at: now().toISOString(), link, ...kept };
  };
}

/** identity.player-data.erase: lifecycle erases in one transaction, with the entry in the audit log. */
export function createErasePlayerData(deps: Needs): Handler<typeof playerData.erase> {
  const { db, mesh } = deps;
  return async (context, { mc_uuid }) => {
    const { user_id: userId, session } = getAccount(context.principal);
    await db.transaction().execute(async (trx) => {
      const account = await lockLiveAccount(trx, userId);
      if (!account) throw new Fault("unauthorized");
      await requireReauth(deps, trx, { account, session });
      await getOwnLink(trx, { userId, mcUuid: mc_uuid });
    });
    await mesh.call(knownPlayers.eraseData, { mc_uuid }, context);
    return null;
  };
}

async function getOwnLink(db: IdentityDb, { userId, mcUuid }: { userId: string; mcUuid: string }) {
  const own = (await listLinksOf(db, userId)).find((link) => link.mc_uuid === mcUuid);
  if (!own) throw new Fault("not_found", { message: "This player is not linked to your account." });
  return toLinkedAccount(own);
}
