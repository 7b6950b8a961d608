// SQL for world operations and the reaper (docs/reference/reaper.md#order).

import { worlds as contracts } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { sql } from "kysely";
import { insertAudit } from "../database/audit.ts";
import { deleteHistory } from "../database/delete-history.ts";
import { forgetPlayers } from "../database/forget-players.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

/** The row with what the reaper needs. */
export type WorldRow = ServerRow & {
  claimedAt: Date | undefined;
  lastActiveAt: Date;
  warned3dAt: Date | undefined;
  warned1dAt: Date | undefined;
};

type Release = {
  name: string;
  outcome: "reclaimed" | "released" | "deleted";
  /** The owner when the decision was made. */
  ownerId: string | undefined;
};

export type WorldStore = {
  find: (name: string) => Promise<WorldRow | undefined>;
  /** Live rows after a name, in its order. */
  page: (after: string, limit: number) => Promise<Map<string, WorldRow>>;
  /**
   * Takes the server from its owner, with an audit entry; false when somebody else owns it now. For a deletion `removeObject` is called under
   * the row's lock, before the row is marked and its names become free.
   */
  release: (release: Release, removeObject: () => Promise<void>) => Promise<boolean>;
  /** False when there is no such server. */
  stampWarning: (name: string, window: "3d" | "1d", at: Date) => Promise<boolean>;
  /** Only for a server without an owner; false when there is no such server. */
  restartIdleClock: (name: string) => Promise<boolean>;
};

const columns = ["claimed_at", "last_active_at", "warned_3d_at", "warned_1d_at", ...rowColumns] as const;

type Columns = Parameters<typeof rowOf>[0] & {
  claimed_at: Date | null;
  last_active_at: Date;
  warned_3d_at: Date | null;
  warned_1d_at: Date | null;
};

const byBytes = sql<string>`name collate "C"`;

export function createWorldStore(store: LifecycleStore): WorldStore {
  const { db } = store;
  return {
    find: withDatabaseFaults(async (name) => {
      const query = db.selectFrom("servers").select(columns).where("name", "=", name);
      const row = await query.where("deleted_at", "is", null).executeTakeFirst();
      return row && worldRowOf(row);
    }),
    page: withDatabaseFaults(async (after, limit) => {
      const rows = await db
        .selectFrom("servers")
        .select(["name", ...columns])
        .where("deleted_at", "is", null)
        // Merged with a list that is sorted by bytes, so the database's collation must not matter.
        .where(byBytes, ">", after)
        .orderBy(byBytes)
        .limit(limit)
        .execute();
      return new Map(rows.map((row) => [row.name, worldRowOf(row)]));
    }),
    release: withDatabaseFaults((about, removeObject) => release(store, about, removeObject)),
    stampWarning: withDatabaseFaults(async (name, window, at) => {
      const stamp = window === "3d" ? { warned_3d_at: at } : { warned_1d_at: at };
      const query = db.updateTable("servers").set(stamp).where("name", "=", name);
      const done = await query.where("deleted_at", "is", null).executeTakeFirst();
      return done.numUpdatedRows > 0n;
    }),
    restartIdleClock: withDatabaseFaults(async (name) => {
      const isFree = sql<boolean>`owner_id is null`;
      const done = await db
        .updateTable("servers")
        .set({
          last_active_at: sql<Date>`case when ${isFree} then now() else last_active_at end`,
          warned_3d_at: sql<Date | null>`case when ${isFree} then null else warned_3d_at end`,
          warned_1d_at: sql<Date | null>`case when ${isFree} then null else warned_1d_at end`,
        })
        .where("name", "=", name)
        .where("deleted_at", "is", null)
        .executeTakeFirst();
      return done.numUpdatedRows > 0n;
    }),
  };
}

function worldRowOf(row: Columns): WorldRow {
  return {
    ...rowOf(row),
    claimedAt: row.claimed_at ?? undefined,
    lastActiveAt: row.last_active_at,
    warned3dAt: row.warned_3d_at ?? undefined,
    warned1dAt: row.warned_1d_at ?? undefined,
  };
}

const actionOf = { reclaimed: "world.reclaim", released: "world.release", deleted: "world.delete" } as const;

async function release(
  { db }: LifecycleStore,
  { name, outcome, ownerId }: Release,
  removeObject: () => Promise<void>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const query = trx.selectFrom("servers").select(["owner_id", "deleted_at", "retire_delete"]);
    const row = await query.where("name", "=", name).forUpdate().executeTakeFirst();
    const isDeletion = outcome === "deleted";
    // A repeat: the row is marked or gone.
    if (!row || row.deleted_at) return isDeletion;
    const now = row.owner_id ?? undefined;
    if (now !== undefined && now !== ownerId) return false;
    // The deletion was cancelled or never requested: the object stays.
    if (isDeletion && !row.retire_delete) return false;
    if (isDeletion) await removeObject();
    await trx
      .updateTable("servers")
      .set({
        owner_id: null,
        claimed_at: null,
        last_active_at: sql<Date>`now()`,
        warned_3d_at: null,
        warned_1d_at: null,
        retire_requested_at: null,
        retire_delete: false,
        ...(isDeletion && { deleted_at: sql<Date>`now()`, cached_phase: null }),
      })
      .where("name", "=", name)
      .execute();
    await trx.deleteFrom("server_allowlist").where("server_name", "=", name).execute();
    await forgetPlayers(trx, [name]);
    if (isDeletion) {
      await trx.deleteFrom("server_aliases").where("server_name", "=", name).execute();
      await trx.deleteFrom("server_schedules").where("server_name", "=", name).execute();
      await deleteHistory(trx, name);
    }
    const event = { name, outcome, at: new Date().toISOString() };
    await trx.insertInto("outbox").values(outboxRow(contracts.serverReleased, event)).execute();
    // Taken before: by this request, which is repeated, or by the end of the account, which has an entry of its own.
    if (!isDeletion && now === undefined && ownerId !== undefined) return true;
    const who = { actor: "reaper", source: "internal:storage", server_name: name };
    const payload = ownerId === undefined ? {} : { owner_id: ownerId };
    await insertAudit(trx, { ...who, action: actionOf[outcome], payload });
    return true;
  });
}
