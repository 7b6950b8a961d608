// All SQL on announcements. Times come from the caller, so that one clock decides.

import { announcements as contracts, Fault } from "@svc/proto";
import type { Trx } from "@svc/store";
import { sql } from "kysely";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { AnnouncementRow } from "./row.ts";
import type { Step } from "./rules.ts";

type Counted = AnnouncementRow & { servers_told: number };
type Change = Partial<Omit<AnnouncementRow, "id" | "created_by" | "created_at">>;

export type AnnouncementStore = {
  /** Planned and current ones by their start, then the newest of the others. */
  list: (now: Date) => Promise<Counted[]>;
  /** Those that are neither over nor ended. */
  open: (now: Date) => Promise<AnnouncementRow[]>;
  /** Stores one; resolves with one of the same id when there is one already. Throws `announcement_limit`. */
  insert: (row: AnnouncementRow, about: { now: Date; limit: number; audit: Audit }) => Promise<Inserted>;
  /** Changes one, whose row `decide` gets locked; undefined leaves it as it is. Throws `announcement_not_found`. */
  change: (id: string, decide: (row: AnnouncementRow) => Decision | undefined) => Promise<Counted>;
  /** Names of the servers whose players were told of this step. */
  delivered: (id: string, step: Step) => Promise<ReadonlySet<string>>;
  /** True for the one caller that is to tell the players of this server. */
  claimDelivery: (id: string, server: string, step: Step) => Promise<boolean>;
  /** Deletes those that were over before `before`. */
  sweep: (before: Date) => Promise<void>;
};

type Inserted = { row: AnnouncementRow; isNew: boolean };
type Decision = { change: Change; audit: Audit };

/** Ended ones that staff are shown. */
const shownOver = 100;

export function createAnnouncementStore({ db }: LifecycleStore): AnnouncementStore {
  return {
    list: withDatabaseFaults(async (now) => {
      const isOpen = sql<boolean>`(ended_at is null and ends_at > ${now})`;
      const rows = await db
        .selectFrom("announcements")
        .selectAll()
        .select(toldCount)
        .orderBy(isOpen, "desc")
        .orderBy(sql`case when ${isOpen} then starts_at end`)
        .orderBy(sql`least(ended_at, ends_at)`, "desc")
        .orderBy("id")
        .limit(shownOver + contracts.mostOpen)
        .execute();
      return rows;
    }),
    open: withDatabaseFaults((now) => openOnes(db, now).selectAll().orderBy("starts_at").execute()),
    insert: withDatabaseFaults((row, about) => db.transaction().execute((trx) => insertOne(trx, row, about))),
    change: withDatabaseFaults((id, decide) =>
      db.transaction().execute(async (trx) => {
        const query = trx.selectFrom("announcements").selectAll().where("id", "=", id);
        const row = await query.forUpdate().executeTakeFirst();
        if (!row) throw new Fault("announcement_not_found");
        const decision = decide(row);
        if (decision) {
          await trx.updateTable("announcements").set(decision.change).where("id", "=", id).execute();
          await insertAudit(trx, decision.audit);
        }
        const changed = trx.selectFrom("announcements").selectAll().select(toldCount);
        return changed.where("id", "=", id).executeTakeFirstOrThrow();
      }),
    ),
    delivered: withDatabaseFaults(async (id, { minutes, dueAt }) => {
      const query = db.selectFrom("announcement_deliveries").select("server_name");
      const ofStep = query.where("announcement_id", "=", id).where("minutes", "=", minutes);
      const rows = await ofStep.where("due_at", "=", dueAt).execute();
      return new Set(rows.map(({ server_name }) => server_name));
    }),
    claimDelivery: withDatabaseFaults(async (announcement_id, server_name, { minutes, dueAt: due_at }) => {
      const made = await db
        .insertInto("announcement_deliveries")
        .values({ announcement_id, server_name, minutes, due_at })
        .onConflict((conflict) => conflict.doNothing())
        .returning("server_name")
        .executeTakeFirst();
      return made !== undefined;
    }),
    sweep: withDatabaseFaults(async (before) => {
      await db.deleteFrom("announcements").where(sql<Date>`least(ended_at, ends_at)`, "<", before).execute();
    }),
  };
}

const toldCount = sql<number>`(select count(distinct server_name)::int from announcement_deliveries
  where announcement_id = announcements.id)`.as("servers_told");

function openOnes(db: LifecycleStore["db"] | Trx<Tables>, now: Date) {
  return db.selectFrom("announcements").where("ended_at", "is", null).where("ends_at", ">", now);
}

async function insertOne(
  trx: Trx<Tables>,
  row: AnnouncementRow,
  { now, limit, audit }: { now: Date; limit: number; audit: Audit },
): Promise<Inserted> {
  // Two at once must neither both take the last place nor the same id.
  await sql`select pg_advisory_xact_lock(hashtext('announcements'))`.execute(trx);
  const there = await trx.selectFrom("announcements").selectAll().where("id", "=", row.id).executeTakeFirst();
  if (there) return { row: there, isNew: false };
  const { open } = await openOnes(trx, now)
    .select(sql<number>`count(*)::int`.as("open"))
    .executeTakeFirstOrThrow();
  if (open >= limit) throw new Fault("announcement_limit");
  await trx.insertInto("announcements").values(row).execute();
  await insertAudit(trx, audit);
  return { row, isNew: true };
}
