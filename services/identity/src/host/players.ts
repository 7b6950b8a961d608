// Barring and unbarring players. Each change is audited in its transaction.

import { isStaffRole } from "../account/policy.ts";
import type { IdentityTrx } from "../database.ts";
import { dropBindCodes, lockPlayer } from "../link/code-store.ts";
import { bar, isBarred, unbar } from "../link/player-store.ts";
import { listLinkedPlayers, lockLinkedAccount } from "../link/store.ts";
import { auditAtHost } from "./audit.ts";
import type { Host } from "./context.ts";
import { getUser } from "./users.ts";

/** `changed`: false for a player who was barred, or was not, already. */
type Barred = { mc_uuid: string; username: string; changed: boolean };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type BarRequest = { who: string; username?: string | undefined; dry_run?: boolean | undefined };

export async function barPlayers(host: Host, request: BarRequest): Promise<{ players: Barred[] }> {
  const { players, name } = await findPlayers(host, request.who);
  const username = request.username ?? name;
  return host.db.transaction().execute(async (trx) => {
    const barred: Barred[] = [];
    for (const mcUuid of players)
      barred.push(await barOne(host, trx, { mcUuid, username, isDry: request.dry_run }));
    return { players: barred };
  });
}

export async function unbarPlayers(host: Host, who: string): Promise<{ players: Barred[] }> {
  const { players, name } = await findPlayers(host, who);
  return host.db.transaction().execute(async (trx) => {
    const freed: Barred[] = [];
    for (const mcUuid of players) {
      const changed = await unbar(trx, mcUuid);
      if (changed) await auditAtHost(host, trx, { action: "player.unbar", payload: { mc_uuid: mcUuid } });
      freed.push({ mc_uuid: mcUuid, username: name, changed });
    }
    return { players: freed };
  });
}

type One = { mcUuid: string; username: string; isDry: boolean | undefined };

async function barOne(host: Host, trx: IdentityTrx, { mcUuid, username, isDry }: One): Promise<Barred> {
  // In the order in which all others lock them.
  if (!isDry) await dropBindCodes(trx, mcUuid);
  await lockPlayer(trx, mcUuid);
  const linked = await lockLinkedAccount(trx, mcUuid);
  if (linked && isStaffRole(linked.role) && !linked.deletedAt)
    throw new Error(`${mcUuid} belongs to an operator and cannot be barred`);
  const changed = !(await isBarred(trx, mcUuid));
  if (isDry) return { mc_uuid: mcUuid, username, changed };
  await bar(trx, { mcUuid, username, now: host.now });
  await auditAtHost(host, trx, { action: "player.bar", payload: { mc_uuid: mcUuid, username } });
  return { mc_uuid: mcUuid, username, changed };
}

/** The player of a UUID, or all of an account, in the order in which they are locked. */
async function findPlayers(host: Host, who: string): Promise<{ players: string[]; name: string }> {
  const id = who.toLowerCase();
  if (uuid.test(id)) return { players: [id], name: "" };
  const user = await getUser(host, who);
  const players = (await listLinkedPlayers(host.db, user.id)).sort();
  if (players.length === 0)
    throw new Error(`${user.username} is not linked to a player; pass a player's UUID`);
  return { players, name: user.username };
}
