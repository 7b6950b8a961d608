// Barring players and reading whether one is barred (docs/reference/links.md#bar).

import type { Handler } from "@svc/mesh";
import type { links } from "@svc/proto";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { dropBindCodes, lockPlayer } from "./code-store.ts";
import { bar, holdData, isBarred } from "./player-store.ts";
import { findStandings } from "./standing.ts";
import { findLinkedOf, hasLink, lockLinkedAccount } from "./store.ts";

/** identity.player.reclaim: the UUID is barred, never the name, which its rightful player will use. */
export function createReclaim(deps: Deps): Handler<typeof links.reclaimName> {
  return async (context, { squatter_uuid: mcUuid, username, data_ref: dataRef }) => {
    const now = deps.now();
    const expiresAt = new Date(now.getTime() + deps.limits.hold_ttl);
    const hold = await deps.db.transaction().execute(async (trx) => {
      await dropBindCodes(trx, mcUuid);
      await lockPlayer(trx, mcUuid);
      const linked = await lockLinkedAccount(trx, mcUuid);
      if (linked && linked.role !== "user" && !linked.deletedAt) throw context.fault("protected_admin");
      await bar(trx, { mcUuid, username, now });
      const held = await holdData(trx, { mcUuid, username, dataRef, now, expiresAt });
      const payload = { mc_uuid: mcUuid, username, hold_expires_at: held.expires_at.toISOString() };
      await recordAudit(trx, context, { action: "player.reclaim", payload });
      return held;
    });
    return {
      blacklisted: true,
      username: hold.username,
      hold_expires_at: hold.expires_at.toISOString(),
    };
  };
}

/** identity.player.read-blacklist */
export function createReadBlacklist(deps: Deps): Handler<typeof links.readBlacklist> {
  return async (_context, { mc_uuid }) => ({ blacklisted: await isBarred(deps.db, mc_uuid) });
}

/** identity.player.read-standings */
export function createReadStandings(deps: Deps): Handler<typeof links.readStandings> {
  return async (_context, { mc_uuids }) => ({ standings: await findStandings(deps.db, mc_uuids) });
}

/** identity.link.status: a retired account counts too, for its player could not link another one. */
export function createLinkStatus(deps: Deps): Handler<typeof links.linkStatus> {
  return async (_context, { mc_uuid }) => ({ linked: await hasLink(deps.db, mc_uuid) });
}

/** identity.link.statuses */
export function createLinkStatuses(deps: Deps): Handler<typeof links.linkStatuses> {
  return async (_context, { mc_uuids }) => ({ linked: await findLinkedOf(deps.db, mc_uuids) });
}
