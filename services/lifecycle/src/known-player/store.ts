// SQL on known players and notes about them.

import { type knownPlayers as contracts, Fault } from "@svc/proto";
import type { Selectable } from "kysely";
import { type RawBuilder, sql } from "kysely";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { KnownPlayersTable, LifecycleStore, Tables } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { Reach } from "./reach.ts";

type Listing = {
  reach: Reach;
  text: string;
  sort: contracts.Sort;
  limit: number;
  offset: number;
};
type At = { server: string; mcUuid: string };
type NoteRow = Selectable<Tables["player_notes"]>;
type Check = {
  /** Throws when the caller may not; the owner cannot change until the note is written. */
  check: (row: ServerRow | undefined) => void;
  audit: Audit;
};

export type KnownPlayerStore = {
  list: (about: Listing) => Promise<{ players: contracts.KnownPlayer[]; total: number }>;
  /** The server of the last visit first. */
  rowsOf: (mcUuid: string, reach: Reach) => Promise<Selectable<KnownPlayersTable>[]>;
  /** The newest first. */
  notesOf: (mcUuid: string, reach: Reach) => Promise<NoteRow[]>;
  /** Throws `known_player_not_found` and `note_limit`. */
  addNote: (note: NoteRow, about: Check & { limit: number }) => Promise<void>;
  /** Throws `note_not_found`. */
  removeNote: (id: string, about: At & Check) => Promise<void>;
};

export function createKnownPlayerStore(store: LifecycleStore): KnownPlayerStore {
  const { db } = store;
  return {
    list: withDatabaseFaults((about) => list(store, about)),
    rowsOf: withDatabaseFaults((mcUuid, reach) =>
      db
        .selectFrom("known_players")
        .selectAll()
        .where("mc_uuid", "=", mcUuid)
        .where(isIn("server_name", reach))
        .orderBy("last_seen", "desc")
        .orderBy("server_name")
        .limit(mostRows)
        .execute(),
    ),
    notesOf: withDatabaseFaults((mcUuid, reach) =>
      db
        .selectFrom("player_notes")
        .selectAll()
        .where("mc_uuid", "=", mcUuid)
        .where(isIn("server_name", reach))
        .orderBy("at", "desc")
        .orderBy("id")
        .limit(mostRows)
        .execute(),
    ),
    addNote: withDatabaseFaults((note, about) => addNote(store, note, about)),
    removeNote: withDatabaseFaults((id, about) => removeNote(store, id, about)),
  };
}

/** Rows of one player that are shown; a person plays on fewer servers. */
const mostRows = 1_000;

function isIn(column: "server_name", reach: Reach): RawBuilder<boolean> {
  if (reach === "all") return sql<boolean>`true`;
  return sql<boolean>`${sql.ref(column)} = any(${[...reach]}::text[])`;
}

const orders: Record<contracts.Sort, RawBuilder<unknown>> = {
  last_seen: sql`last_seen desc`,
  played: sql`played_ms desc`,
  name: sql`lower(name)`,
};

type ListedRow = Omit<contracts.KnownPlayer, "first_seen" | "last_seen" | "played_seconds"> & {
  first_seen: Date;
  last_seen: Date;
  played_ms: string;
};

async function list(
  { db }: LifecycleStore,
  { reach, text, sort, limit, offset }: Listing,
): Promise<{ players: contracts.KnownPlayer[]; total: number }> {
  const isNamed = sql<boolean>`position(${text.toLowerCase()} in lower(name)) > 0`;
  const found = sql`select mc_uuid, (array_agg(name order by last_seen desc))[1] as name, count(*)::int as servers,
      min(first_seen) as first_seen, max(last_seen) as last_seen, sum(played_ms) as played_ms,
      sum(visits)::int as visits
    from known_players where ${isIn("server_name", reach)} group by mc_uuid having bool_or(${isNamed})`;
  const [{ rows }, counted] = await Promise.all([
    sql<ListedRow>`select * from (${found}) found
      order by ${orders[sort]}, mc_uuid limit ${limit} offset ${offset}`.execute(db),
    sql<{ total: number }>`select count(*)::int as total from (${found}) found`.execute(db),
  ]);
  const players = rows.map(({ played_ms, first_seen, last_seen, ...row }) => ({
    ...row,
    ...seenOf({ first_seen, last_seen, played_ms, visits: row.visits }),
  }));
  return { players, total: counted.rows[0]?.total ?? 0 };
}

type Seen = Pick<Selectable<KnownPlayersTable>, "first_seen" | "last_seen" | "played_ms" | "visits">;

export function seenOf({ first_seen, last_seen, played_ms, visits }: Seen) {
  return {
    first_seen: first_seen.toISOString(),
    last_seen: last_seen.toISOString(),
    played_seconds: Math.floor(Number(played_ms) / 1_000),
    visits,
  };
}

async function addNote(
  { db }: LifecycleStore,
  note: NoteRow,
  { check, limit, audit }: Check & { limit: number },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    check(await shareRow(trx, note.server_name));
    // Two at once must not both take the last place.
    const known = await trx
      .selectFrom("known_players")
      .select("name")
      .where("server_name", "=", note.server_name)
      .where("mc_uuid", "=", note.mc_uuid)
      .forUpdate()
      .executeTakeFirst();
    if (!known) throw new Fault("known_player_not_found");
    const { notes } = await trx
      .selectFrom("player_notes")
      .select(sql<number>`count(*)::int`.as("notes"))
      .where("server_name", "=", note.server_name)
      .where("mc_uuid", "=", note.mc_uuid)
      .executeTakeFirstOrThrow();
    if (notes >= limit) throw new Fault("note_limit");
    await trx.insertInto("player_notes").values(note).execute();
    await insertAudit(trx, audit);
  });
}

async function removeNote(
  { db }: LifecycleStore,
  id: string,
  { server, mcUuid, check, audit }: At & Check,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    check(await shareRow(trx, server));
    const gone = await trx
      .deleteFrom("player_notes")
      .where("id", "=", id)
      .where("server_name", "=", server)
      .where("mc_uuid", "=", mcUuid)
      .executeTakeFirst();
    if (gone.numDeletedRows === 0n) throw new Fault("note_not_found");
    await insertAudit(trx, audit);
  });
}

async function shareRow(
  trx: Parameters<typeof insertAudit>[0],
  name: string,
): Promise<ServerRow | undefined> {
  const query = trx.selectFrom("servers").select(rowColumns).where("name", "=", name);
  const row = await query.where("deleted_at", "is", null).forShare().executeTakeFirst();
  return row && rowOf(row);
}
