// All SQL on status pages. Times come from the caller, so that one clock decides.

import { Fault, type statusPages } from "@svc/proto";
import { sql } from "kysely";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { lockRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { Minute } from "./rules.ts";

/** A server whose page is shown. */
export type ShownPage = { name: string; since: Date; isRetiring: boolean };
type CountedMinute = { name: string; as: Minute };
type Day = statusPages.StatusDay & { name: string };

export type StatusPageStore = {
  /** Pages of servers that are still those of the owner then. */
  shown: () => Promise<ShownPage[]>;
  shownOf: (name: string) => Promise<ShownPage | undefined>;
  /** Shows or hides a page; the same once more changes nothing. Throws `not_found`. */
  show: (name: string, about: Showing & { ownerId: string | undefined }) => Promise<void>;
  isOverviewShown: () => Promise<boolean>;
  showOverview: (about: Showing) => Promise<void>;
  /** Days of these servers from `from` on, in order. */
  days: (names: readonly string[], from: string) => Promise<Day[]>;
  /** Counts one minute of each server, once; resolves with their days. */
  count: (minute: Date, servers: readonly CountedMinute[]) => Promise<Day[]>;
  sweep: (before: string) => Promise<void>;
};

type Showing = { isPublic: boolean; now: Date; by: string; audit: Audit };

export function createStatusPageStore({ db }: LifecycleStore): StatusPageStore {
  const shown = () =>
    db
      .selectFrom("status_pages as p")
      .innerJoin("servers as s", "s.name", "p.server_name")
      .where("s.deleted_at", "is", null)
      .where(sql<boolean>`s.owner_id is not distinct from p.owner_id`)
      .select(["s.name", "p.since", "s.retire_requested_at"]);
  const toShown = (row: { name: string; since: Date; retire_requested_at: Date | null }): ShownPage => ({
    ...{ name: row.name, since: row.since },
    isRetiring: row.retire_requested_at !== null,
  });
  return {
    shown: withDatabaseFaults(async () => (await shown().execute()).map(toShown)),
    shownOf: withDatabaseFaults(async (name) => {
      const row = await shown().where("s.name", "=", name).executeTakeFirst();
      return row && toShown(row);
    }),
    show: withDatabaseFaults((name, about) => show({ db }, name, about)),
    isOverviewShown: withDatabaseFaults(
      async () => (await db.selectFrom("status_overview").select("id").executeTakeFirst()) !== undefined,
    ),
    showOverview: withDatabaseFaults((about) => showOverview({ db }, about)),
    days: withDatabaseFaults(async (names, from) => {
      const { rows } = await sql<Day>`select ${dayColumns} from status_days
        where server_name = any(${[...names]}::text[]) and day >= ${from}::date order by day`.execute(db);
      return rows;
    }),
    count: withDatabaseFaults(async (minute, servers) => {
      if (servers.length === 0) return [];
      const { rows } = await countMinute(minute, servers).execute(db);
      return rows;
    }),
    sweep: withDatabaseFaults(async (before) => {
      await sql`delete from status_days where day < ${before}::date`.execute(db);
    }),
  };
}

type Database = Pick<LifecycleStore, "db">;

function show(
  { db }: Database,
  name: string,
  { isPublic, now, by, ownerId, audit }: Showing & { ownerId: string | undefined },
): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const row = await lockRow(trx, name);
    if (!row) throw new Fault("not_found", { message: `There is no server ${name}.` });
    // The caller was looked at as somebody else's guest.
    if (row.ownerId !== ownerId)
      throw new Fault("unavailable", { message: "The server changed its owner just now; try again." });
    const there = await trx
      .selectFrom("status_pages")
      .select("owner_id")
      .where("server_name", "=", name)
      .executeTakeFirst();
    const isShown = there !== undefined && (there.owner_id ?? undefined) === ownerId;
    if (isShown === isPublic) return;
    // What was counted for another owner goes too.
    await trx.deleteFrom("status_pages").where("server_name", "=", name).execute();
    if (isPublic)
      await trx
        .insertInto("status_pages")
        .values({ server_name: name, owner_id: ownerId ?? null, since: now, shown_by: by })
        .execute();
    await insertAudit(trx, audit);
  });
}

function showOverview({ db }: Database, { isPublic, now, by, audit }: Showing): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const changed = isPublic
      ? await trx
          .insertInto("status_overview")
          .values({ since: now, shown_by: by })
          .onConflict((conflict) => conflict.doNothing())
          .returning("id")
          .executeTakeFirst()
      : await trx.deleteFrom("status_overview").returning("id").executeTakeFirst();
    if (changed) await insertAudit(trx, audit);
  });
}

const dayColumns = sql`server_name as name, day::text as day, known_minutes, down_minutes, planned_minutes`;

function countMinute(minute: Date, servers: readonly CountedMinute[]) {
  const names = servers.map(({ name }) => name);
  const flags = (as: Minute) => servers.map((one) => (one.as === as ? 1 : 0));
  return sql<Day>`with counted as (
      select t.name, t.down, t.planned
      from unnest(${names}::text[], ${flags("down")}::int[], ${flags("planned")}::int[]) as t (name, down, planned)
      join status_pages p on p.server_name = t.name
    )
    insert into status_days as d (server_name, day, known_minutes, down_minutes, planned_minutes, counted_to)
    select name, (${minute}::timestamptz at time zone 'UTC')::date, 1, down, planned, ${minute}::timestamptz
    from counted order by name
    on conflict (server_name, day) do update set
      known_minutes = d.known_minutes + excluded.known_minutes,
      down_minutes = d.down_minutes + excluded.down_minutes,
      planned_minutes = d.planned_minutes + excluded.planned_minutes,
      counted_to = excluded.counted_to
    where d.counted_to < excluded.counted_to
    returning ${dayColumns}`;
}
