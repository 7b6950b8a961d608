// All SQL of the audit log.

import { isIP } from "node:net";
import type { AuditEntry } from "@svc/proto";
import { type Insertable, sql } from "kysely";
import type { AuditLogsTable, IdentityDb } from "../database.ts";

/** Stores an entry once, however often it is delivered. An actor whose account was deleted is stored by name only. */
export async function saveEntry(db: IdentityDb, entry: AuditEntry): Promise<void> {
  await insertEntry(db, entry)
    .onConflict((conflict) => conflict.constraint("audit_logs_once").doNothing())
    .execute();
}

/** Stores an entry, or increments `tries` of the entry with this id and sets `last_at`. */
export async function countEntry(db: IdentityDb, entry: AuditEntry): Promise<void> {
  const counted = sql<string>`audit_logs.payload || jsonb_build_object(
    'tries', (audit_logs.payload ->> 'tries')::bigint + 1, 'last_at', ${entry.at}::text)`;
  await insertEntry(db, entry)
    .onConflict((conflict) => conflict.constraint("audit_logs_once").doUpdateSet({ payload: counted }))
    .execute();
}

function insertEntry(db: IdentityDb, entry: AuditEntry) {
  const { actor_user_id, ...row } = toRow(entry);
  return db.insertInto("audit_logs").values({
    ...row,
    actor_user_id: actor_user_id ? sql<string>`(select id from users where id = ${actor_user_id})` : null,
  });
}

/** The row of an entry. PostgreSQL cannot store NUL, and an invalid address must not lose the entry. */
export function toRow(entry: AuditEntry): Omit<Insertable<AuditLogsTable>, "id"> {
  const address = entry.client_ip ?? "";
  return {
    entry_id: clean(entry.id),
    created_at: new Date(entry.at),
    actor: clean(entry.actor),
    actor_user_id: entry.actor_user_id === undefined ? null : clean(entry.actor_user_id),
    client_ip: isIP(address) !== 0 && !address.includes("%") ? address : null,
    user_agent: entry.user_agent === undefined ? null : clean(entry.user_agent),
    action: clean(entry.action),
    server_name: entry.server_name === undefined ? null : clean(entry.server_name),
    request_id: entry.request_id === undefined ? null : clean(entry.request_id),
    payload: JSON.stringify(cleanValue(entry.payload)),
    source: clean(entry.source),
  };
}

function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), cleanValue(inner)]));
}

// Lone surrogates are as impossible in jsonb as NUL is.
function clean(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
