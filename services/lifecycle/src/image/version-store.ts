// All SQL on the versions with which players came. Days are the database's, in UTC.

import { sql } from "kysely";
import type { LifecycleStore } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { VersionCount } from "./suggest.ts";

type Came = { mc_uuid: string; protocol: number };

export type VersionStore = {
  /** A player has one row, whatever is said twice: the version said last. */
  record: (players: readonly Came[]) => Promise<void>;
  /** Players of the last seven days by version. */
  count: () => Promise<VersionCount[]>;
};

const today = sql`(now() at time zone 'utc')::date`;
const isRecent = sql<boolean>`seen_on > ${today} - 7`;

export function createVersionStore({ db }: LifecycleStore): VersionStore {
  return {
    record: withDatabaseFaults(async (players) => {
      // Two replicas that take turns with each other's rows would wait for each other for ever.
      const rows = [...new Map(players.map((player) => [player.mc_uuid, player])).values()].sort((a, b) =>
        a.mc_uuid < b.mc_uuid ? -1 : 1,
      );
      if (rows.length === 0) return;
      await sql`
        insert into player_versions (mc_uuid, protocol, seen_on)
        select mc_uuid, protocol, ${today}
        from unnest(${rows.map(({ mc_uuid }) => mc_uuid)}::uuid[], ${rows.map(({ protocol }) => protocol)}::int[])
          as came (mc_uuid, protocol)
        on conflict (mc_uuid) do update set protocol = excluded.protocol, seen_on = excluded.seen_on
        where (player_versions.protocol, player_versions.seen_on)
          is distinct from (excluded.protocol, excluded.seen_on)`.execute(db);
      await sql`delete from player_versions where not ${isRecent}`.execute(db);
    }),
    count: withDatabaseFaults(async () => {
      const { rows } = await sql<VersionCount>`
        select protocol, count(*)::int as players from player_versions
        where ${isRecent} group by protocol`.execute(db);
      return rows;
    }),
  };
}
