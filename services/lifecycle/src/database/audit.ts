// Audit entries that no crash loses. The entry of a change of rows is an outbox row of the same transaction. A change of
// the cluster has no transaction: its entry is admitted before the change and settled after it, and the sweep of any
// replica settles what a dead one left, with the outcome `unknown`.

import { randomUUID } from "node:crypto";
import { AuditEntry, auditSubject } from "@svc/proto";
import { auditRow, type Db, type Trx } from "@svc/store";
import { sql } from "kysely";
import type { LifecycleStore, Tables } from "./schema.ts";
import { withDatabaseFaults } from "./with-database-faults.ts";

/** An audit entry before it gets its id and time. */
export type Audit = Omit<AuditEntry, "id" | "at" | "payload"> & { payload?: Record<string, unknown> };

export type AuditStore = {
  /** Records an entry before something is done that no transaction holds and that nobody can check afterwards. */
  record: (audit: Audit) => Promise<void>;
  /** Before a change of the cluster: resolves with the change's id. A repeat of the request served changes nothing. */
  admit: (audit: Audit) => Promise<string>;
  /** The change was made: publishes its entry. */
  settle: (id: string) => Promise<void>;
  /** The change was not made: its entry is not published. */
  drop: (id: string) => Promise<void>;
  /** Publishes the entries of changes admitted at least `ageMs` ago; resolves with their number. */
  sweep: (ageMs: number) => Promise<number>;
};

const subject = auditSubject("lifecycle");

function toAuditEntry(audit: Audit): AuditEntry {
  return AuditEntry.parse({ id: randomUUID(), at: new Date().toISOString(), ...audit });
}

export function toAuditRow(audit: Audit): { subject: string; body: string } {
  return auditRow("lifecycle", toAuditEntry(audit));
}

export async function insertAudit(db: Db<Tables> | Trx<Tables>, audit: Audit): Promise<void> {
  await db.insertInto("outbox").values(toAuditRow(audit)).execute();
}

export function createAuditStore({ db }: LifecycleStore): AuditStore {
  return {
    record: withDatabaseFaults((audit) => insertAudit(db, audit)),
    admit: withDatabaseFaults(async (audit) => {
      const entry = toAuditEntry(audit);
      await db
        .insertInto("server_changes")
        .values({ id: entry.id, entry: JSON.stringify(entry) })
        .execute();
      return entry.id;
    }),
    settle: withDatabaseFaults(async (id) => {
      await sql`with settled as (delete from server_changes where id = ${id} returning entry)
        insert into outbox (subject, body) select ${subject}, entry::text from settled`.execute(db);
    }),
    drop: withDatabaseFaults(async (id) => {
      await db.deleteFrom("server_changes").where("id", "=", id).execute();
    }),
    sweep: withDatabaseFaults(async (ageMs) => {
      const { rows } = await sql`with settled as (
          delete from server_changes where admitted_at <= now() - ${ageMs}::float8 * interval '1 millisecond'
          returning entry
        )
        insert into outbox (subject, body)
        select ${subject}, jsonb_set(entry, '{payload,outcome}', '"unknown"')::text from settled
        returning id`.execute(db);
      return rows.length;
    }),
  };
}
