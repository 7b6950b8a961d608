// SQL that counts visits, and that forgets (docs/reference/players.md#visits).

import { type knownPlayers as contracts, systemNames } from "@svc/proto";
import type { Trx } from "@svc/store";
import { sql } from "kysely";
import { lockVisits } from "../database/forget-players.ts";
import type { KnownPlayersTable, LifecycleStore, Tables } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { countVisit, type Known } from "./rules.ts";

type VisitStore = {
  /** Counts what is new in a report; resolves with how many visits changed something. */
  count: (proxy: string, visits: readonly contracts.Visit[]) => Promise<number>;
  /** Forgets players who did not come for `keepMs`, and of each server all but the newest `mostPlayers`. */
  sweep: (about: { keepMs: number; mostPlayers: number }) => Promise<number>;
};

/** Erased again after this; longer than any proxy remembers a visit, and any visit counts at once. */
const erasureKept = sql`interval '30 days'`;

export function createVisitStore({ db }: LifecycleStore): VisitStore {
  return {
    count: withDatabaseFaults(async (proxy, visits) => {
      if (visits.length === 0) return 0;
      return db.transaction().execute((trx) => countAll(trx, proxy, visits));
    }),
    sweep: withDatabaseFaults(async ({ keepMs, mostPlayers }) => {
      const { rows } = await sql<{ gone: number }>`with old as (
          delete from known_players where last_seen < now() - ${keepMs}::float8 * interval '1 millisecond'
          returning 1
        ), crowded as (
          select server_name from known_players group by server_name having count(*) > ${mostPlayers}
        ), beyond as (
          delete from known_players p using (
            select k.server_name, k.mc_uuid,
              row_number() over (partition by k.server_name order by k.last_seen desc, k.mc_uuid) as place
            from known_players k join crowded using (server_name)
          ) placed
          where p.server_name = placed.server_name and p.mc_uuid = placed.mc_uuid and placed.place > ${mostPlayers}
          returning 1
        ), orphans as (
          delete from known_players p where not exists (
            select from servers s where s.name = p.server_name and s.deleted_at is null)
          returning 1
        ), forgotten as (delete from player_erasures where erased_at < now() - ${erasureKept})
        select (select count(*) from old)::int + (select count(*) from beyond)::int
          + (select count(*) from orphans)::int as gone`.execute(db);
      return rows[0]?.gone ?? 0;
    }),
  };
}

type Row = Omit<KnownPlayersTable, "server_name" | "mc_uuid" | "name"> & {
  at: number;
  number: number;
  not_before: Date;
  erased: { number: number; ms: number } | null;
  now: Date;
  name: string | null;
};

// The statement behind the lock sees what those before it committed.
async function countAll(
  trx: Trx<Tables>,
  proxy: string,
  visits: readonly contracts.Visit[],
): Promise<number> {
  await lockVisits(trx);
  const asked = JSON.stringify(
    visits.map(({ mc_uuid, server, number }, at) => ({ at, mc_uuid, server, number })),
  );
  const { rows } = await sql<Row>`
    select v.at, v.number, clock_timestamp() as now, k.name, k.first_seen, k.last_seen, k.played_ms, k.visits,
      k.visit_proxy, k.visit_number, k.visit_ms,
      greatest(s.created_at, s.claimed_at, e.erased_at) as not_before, e.visits -> ${proxy}::text as erased
    from jsonb_to_recordset(${asked}::jsonb) as v(at int, mc_uuid uuid, server text, number bigint)
    join servers s on s.name = v.server and s.deleted_at is null and s.name <> all(${[...systemNames]}::text[])
    left join known_players k on k.server_name = v.server and k.mc_uuid = v.mc_uuid
    left join player_erasures e on e.mc_uuid = v.mc_uuid
    order by v.number`.execute(trx);
  const changed = new Map<string, { visit: contracts.Visit; known: Known }>();
  for (const row of rows) {
    const visit = visits[row.at] as contracts.Visit;
    const key = `${visit.server} ${visit.mc_uuid}`;
    const before = changed.get(key)?.known ?? knownOf(row);
    const end = row.now.getTime() - (visit.ended_ms ?? 0);
    const { number, name, ms: lasted } = visit;
    const bounds = { notBefore: row.not_before.getTime(), erased: row.erased ?? undefined };
    const known = countVisit(before, { proxy, number, name, lasted, end }, bounds);
    if (known) changed.set(key, { visit, known });
  }
  await write(trx, [...changed.values()]);
  return changed.size;
}

function knownOf(row: Row): Known | undefined {
  if (row.name === null) return undefined;
  return {
    name: row.name,
    firstSeen: row.first_seen.getTime(),
    lastSeen: row.last_seen.getTime(),
    playedMs: Number(row.played_ms),
    visits: row.visits,
    visit: { proxy: row.visit_proxy, number: Number(row.visit_number), ms: Number(row.visit_ms) },
  };
}

async function write(
  trx: Trx<Tables>,
  changed: readonly { visit: contracts.Visit; known: Known }[],
): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map(({ visit: { server, mc_uuid }, known }) => ({
    ...{ server_name: server, mc_uuid, name: known.name },
    first_seen: new Date(known.firstSeen),
    last_seen: new Date(known.lastSeen),
    played_ms: known.playedMs,
    visits: known.visits,
    ...{ visit_proxy: known.visit.proxy, visit_number: known.visit.number, visit_ms: known.visit.ms },
  }));
  await sql`insert into known_players
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(server_name text, mc_uuid uuid, name text,
      first_seen timestamptz, last_seen timestamptz, played_ms bigint, visits int, visit_proxy text,
      visit_number bigint, visit_ms bigint)
    on conflict (server_name, mc_uuid) do update set name = excluded.name, last_seen = excluded.last_seen,
      played_ms = excluded.played_ms, visits = excluded.visits, visit_proxy = excluded.visit_proxy,
      visit_number = excluded.visit_number, visit_ms = excluded.visit_ms`.execute(trx);
}
