// What is kept about one player, for the player, and its end (docs/reference/players.md#own).

import { auditActor, type Context, type Handler } from "@svc/mesh";
import type { AnyContract, knownPlayers as contracts, playerData } from "@svc/proto";
import type { Trx } from "@svc/store";
import { sql } from "kysely";
import { insertAudit } from "../database/audit.ts";
import { lockVisits } from "../database/forget-players.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { seenOf } from "./store.ts";

export function readData(store: LifecycleStore, keepMs: number): Handler<typeof contracts.readData> {
  const read = withDatabaseFaults((mcUuid: string) => readAll(store, mcUuid));
  return async (_context, { mc_uuid }) => ({ ...(await read(mc_uuid)), kept_days: keepMs / 86_400_000 });
}

async function readAll(
  { db }: LifecycleStore,
  mcUuid: string,
): Promise<Omit<playerData.PlayerData, "kept_days">> {
  const [servers, notes, rights, name, version, erasure] = await Promise.all([
    db.selectFrom("known_players").selectAll().where("mc_uuid", "=", mcUuid).orderBy("server_name").execute(),
    db.selectFrom("player_notes").selectAll().where("mc_uuid", "=", mcUuid).orderBy("at").execute(),
    db
      .selectFrom("server_allowlist")
      .selectAll()
      .where("mc_uuid", "=", mcUuid)
      .orderBy("server_name")
      .execute(),
    db.selectFrom("player_names").selectAll().where("mc_uuid", "=", mcUuid).executeTakeFirst(),
    db
      .selectFrom("player_versions")
      .select(["protocol", sql<string>`to_char(seen_on, 'YYYY-MM-DD')`.as("day")])
      .where("mc_uuid", "=", mcUuid)
      .executeTakeFirst(),
    db.selectFrom("player_erasures").selectAll().where("mc_uuid", "=", mcUuid).executeTakeFirst(),
  ]);
  return {
    servers: servers.map((row) => ({ server: row.server_name, name: row.name, ...seenOf(row) })),
    notes: notes.map(({ server_name: server, text, at }) => ({ server, text, at: at.toISOString() })),
    wake_rights: rights.map(({ server_name: server, added_at, revoked_at }) => ({
      ...{ server, added_at: added_at.toISOString(), can_wake: revoked_at === null },
    })),
    ...(name && { name: { name: name.name, seen_at: name.seen_at.toISOString() } }),
    ...(version && { version: { protocol: version.protocol, seen_on: version.day } }),
    ...(erasure && { erased_at: erasure.erased_at.toISOString() }),
  };
}

export function eraseData(store: LifecycleStore): Handler<typeof contracts.eraseData> {
  const erase = withDatabaseFaults((mcUuid: string, context: Context<AnyContract>) =>
    eraseAll(store, mcUuid, context),
  );
  return async (context, { mc_uuid }) => erase(mc_uuid, context);
}

// One transaction: killed in it, nothing is erased and the player asks again. What is counted later sees the row in
// `player_erasures`, so that no visit from before comes back, from whatever proxy and however late.
async function eraseAll(
  { db }: LifecycleStore,
  mcUuid: string,
  context: Context<AnyContract>,
): Promise<{ servers: number; notes: number }> {
  return db.transaction().execute(async (trx) => {
    await lockVisits(trx);
    await rememberErasure(trx, mcUuid);
    const notes = await trx.deleteFrom("player_notes").where("mc_uuid", "=", mcUuid).executeTakeFirst();
    const servers = await trx.deleteFrom("known_players").where("mc_uuid", "=", mcUuid).executeTakeFirst();
    await trx.deleteFrom("player_names").where("mc_uuid", "=", mcUuid).execute();
    await trx.deleteFrom("player_versions").where("mc_uuid", "=", mcUuid).execute();
    const gone = { servers: Number(servers.numDeletedRows), notes: Number(notes.numDeletedRows) };
    const payload = { mc_uuid: mcUuid, ...gone };
    await insertAudit(trx, { ...auditActor(context), action: "player.erase-data", payload });
    return gone;
  });
}

// A report that is still on its way says nothing of when it was sent, so that the visits themselves are remembered.
async function rememberErasure(trx: Trx<Tables>, mcUuid: string): Promise<void> {
  await sql`insert into player_erasures (mc_uuid, erased_at, visits)
    select ${mcUuid}::uuid, clock_timestamp(), coalesce((
      select jsonb_object_agg(visit_proxy, jsonb_build_object('number', visit_number, 'ms', visit_ms))
      from (select distinct on (visit_proxy) visit_proxy, visit_number, visit_ms from known_players
        where mc_uuid = ${mcUuid}::uuid order by visit_proxy, visit_number desc) last), '{}')
    on conflict (mc_uuid) do update
      set erased_at = excluded.erased_at, visits = player_erasures.visits || excluded.visits`.execute(trx);
}
