// All SQL on who plays where. All times are the database's, so the clocks of proxies and replicas need not agree.

import type { players } from "@svc/proto";
import { sql } from "kysely";
import type { LifecycleStore, ProxyPlayer } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { mergeReport, type Report } from "./merge-report.ts";

type ReportAnswer = { elsewhere: string[]; invitations: players.Invitation[] };

type PlayerStore = {
  report: (report: Report) => Promise<ReportAnswer>;
  list: () => Promise<players.OnlinePlayer[]>;
  /** Servers where a player is now, over all proxies. */
  serversOf: (mcUuid: string) => Promise<ReadonlySet<string>>;
  /** False when the player is on no proxy. */
  invite: (invitation: players.Invitation) => Promise<boolean>;
};

/** A proxy that has not reported for this long has no players. */
const silenceMs = 15_000;
const invitationMs = 60_000;
const forgetMs = 3_600_000;

const ms = (span: number) => sql`${span}::float8 * interval '1 millisecond'`;
const isFresh = sql<boolean>`seen_at > now() - ${ms(silenceMs)}`;

export function createPlayerStore(store: LifecycleStore): PlayerStore {
  const { db } = store;
  return {
    report: withDatabaseFaults((report) => recordReport(store, report)),
    list: withDatabaseFaults(async () => {
      const rows = await db.selectFrom("proxy_players").selectAll().where(isFresh).execute();
      return onlineOf(rows);
    }),
    serversOf: withDatabaseFaults(async (mcUuid) => {
      const { rows } = await sql<{ server: string }>`
        select player ->> 'server' as server from proxy_players, jsonb_array_elements(players) player
        where ${isFresh} and players @> ${JSON.stringify([{ mc_uuid: mcUuid }])}::jsonb
          and player ->> 'mc_uuid' = ${mcUuid} and player ? 'server'`.execute(db);
      return new Set(rows.map(({ server }) => server));
    }),
    invite: withDatabaseFaults(async (invitation) => {
      const { rows } = await sql<{ id: string }>`
        insert into player_invitations (id, from_uuid, from_name, to_uuid, server_name, expires_at)
        select ${invitation.id}, ${invitation.from_uuid}::uuid, ${invitation.from_name},
          ${invitation.to_uuid}::uuid, ${invitation.server}, now() + ${ms(invitationMs)}
        where exists (
          select 1 from proxy_players
          where ${isFresh} and players @> ${JSON.stringify([{ mc_uuid: invitation.to_uuid }])}::jsonb)
        on conflict (id) do update set expires_at = excluded.expires_at
        returning id`.execute(db);
      return rows.length > 0;
    }),
  };
}

async function recordReport({ db }: LifecycleStore, report: Report): Promise<ReportAnswer> {
  const { proxy } = report;
  const uuids = report.players.map(({ mc_uuid }) => mc_uuid);
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ proxy: string; players: ProxyPlayer[]; now: Date }>`
      select proxy, players, clock_timestamp() as now from proxy_players
      where proxy = ${proxy} or ${isFresh}`.execute(trx);
    const now = rows[0]?.now ?? (await sql<{ now: Date }>`select now()`.execute(trx)).rows[0]?.now;
    const { players, elsewhere } = mergeReport(
      report,
      rows.find((row) => row.proxy === proxy)?.players ?? [],
      {
        others: rows.filter((row) => row.proxy !== proxy),
        now: (now ?? new Date()).toISOString(),
      },
    );
    const json = JSON.stringify(players);
    await sql`
      insert into proxy_players (proxy, players, seen_at) values (${proxy}, ${json}::jsonb, now())
      on conflict (proxy) do update set players = excluded.players, seen_at = excluded.seen_at`.execute(trx);
    await sql`delete from proxy_players where seen_at < now() - ${ms(forgetMs)}`.execute(trx);
    const taken = await sql<players.Invitation & { is_live: boolean }>`
      delete from player_invitations where to_uuid = any(${uuids}::uuid[]) or expires_at < now()
      returning id, from_uuid::text, from_name, to_uuid::text, server_name as server,
        expires_at >= now() as is_live`.execute(trx);
    const invitations = taken.rows.filter(({ is_live }) => is_live);
    return { elsewhere, invitations: invitations.map(({ is_live: _, ...invitation }) => invitation) };
  });
}

/** By name; a player whom two proxies report counts once, at the later session. */
function onlineOf(rows: readonly { proxy: string; players: ProxyPlayer[] }[]): players.OnlinePlayer[] {
  const found = new Map<string, players.OnlinePlayer>();
  for (const { proxy, players } of rows) {
    for (const { mc_uuid, name, server, since } of players) {
      const seen = found.get(mc_uuid);
      if (seen && seen.since > since) continue;
      found.set(mc_uuid, { mc_uuid, name, ...(server !== undefined && { server }), proxy, since });
    }
  }
  return [...found.values()].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}
