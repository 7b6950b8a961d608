import type { Handler } from "@svc/mesh";
import type { accounts, links } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { findLinkedAccount, findPlayerNames, listLinkedPlayers } from "./store.ts";

/** identity.link.find */
export function createFindLink({ db }: Deps): Handler<typeof accounts.findLink> {
  return async (_context, { mc_uuid }) => ({ account: (await findLinkedAccount(db, mc_uuid)) ?? null });
}

/** identity.link.list */
export function createListLinks({ db }: Deps): Handler<typeof accounts.listLinks> {
  return async (_context, { user_id }) => ({ mc_uuids: await listLinkedPlayers(db, user_id) });
}

/** identity.link.name-players */
export function createNamePlayers({ db }: Deps): Handler<typeof links.namePlayers> {
  return async (_context, { mc_uuids }) => ({ names: await findPlayerNames(db, mc_uuids) });
}
