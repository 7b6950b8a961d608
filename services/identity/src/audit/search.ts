// Reading the audit log: newest first, in pages that a cursor continues (docs/reference/audit.md#search).

import type { settings } from "@svc/proto";
import { type Selectable, sql } from "kysely";
import type { AuditLogsTable, IdentityDb } from "../database.ts";

export type AuditFilter = {
  server?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  cursor?: string | undefined;
  limit: number;
};
type Position = { at: Date; id: number };
type AuditPage = { entries: settings.AuditRow[]; next?: string };

/** One page; `bad_cursor` when the cursor is none of ours. */
export async function searchEntries(db: IdentityDb, filter: AuditFilter): Promise<AuditPage | "bad_cursor"> {
  const page = await readPage(db, filter);
  if (page === "bad_cursor") return page;
  const { rows, next } = page;
  return { entries: rows.map(toAuditRow), ...(next !== undefined && { next }) };
}

export type EntryRow = Selectable<AuditLogsTable>;

/** The rows of one page, and the cursor of the next one. */
export async function readPage(
  db: IdentityDb,
  filter: AuditFilter,
): Promise<{ rows: EntryRow[]; next: string | undefined } | "bad_cursor"> {
  const position = filter.cursor === undefined ? undefined : parseCursor(filter.cursor);
  if (filter.cursor !== undefined && position === undefined) return "bad_cursor";
  const found = await selectPage(db, filter, position);
  const rows = found.slice(0, filter.limit);
  const last = rows.at(-1);
  const hasMore = found.length > filter.limit && last !== undefined;
  return { rows, next: hasMore ? cursorOf({ at: last.created_at, id: last.id }) : undefined };
}

function selectPage(
  db: IdentityDb,
  filter: AuditFilter,
  position: Position | undefined,
): Promise<EntryRow[]> {
  let query = db
    .selectFrom("audit_logs")
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(filter.limit + 1);
  const { server, actor, action } = filter;
  if (server !== undefined)
    query = query
      .where(sql<boolean>`split_part(server_name, ':', 1) = ${server}`)
      .where("server_name", "is not", null);
  if (actor !== undefined)
    query = query.where((where) =>
      where.or([where("actor", "=", actor), where("actor_user_id", "=", actor)]),
    );
  if (action?.endsWith("*")) query = query.where("action", "like", beginningWith(action.slice(0, -1)));
  else if (action !== undefined) query = query.where("action", "=", action);
  if (filter.since !== undefined) query = query.where("created_at", ">=", new Date(filter.since));
  if (filter.until !== undefined) query = query.where("created_at", "<", new Date(filter.until));
  if (position)
    query = query.where(
      sql<boolean>`(created_at, id) < (${position.at}::timestamptz, ${position.id}::bigint)`,
    );
  return query.execute();
}

function beginningWith(text: string): string {
  return `${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** Milliseconds and id of the last entry of a page. Entries keep milliseconds, so nothing is skipped between two cursors. */
function cursorOf({ at, id }: Position): string {
  return `${at.getTime()}-${id}`;
}

function parseCursor(text: string): Position | undefined {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return at === undefined ? undefined : { at: new Date(Number(at)), id: Number(id) };
}

function toAuditRow(row: EntryRow): settings.AuditRow {
  const optional = {
    actor_user_id: row.actor_user_id,
    server_name: row.server_name,
    request_id: row.request_id,
    client_ip: row.client_ip,
    user_agent: row.user_agent,
  };
  const present = Object.entries(optional).filter(([, value]) => value !== null);
  return {
    id: row.id,
    at: row.created_at.toISOString(),
    actor: row.actor,
    source: row.source,
    action: row.action,
    payload: (row.payload ?? {}) as Record<string, unknown>,
    ...Object.fromEntries(present),
  };
}
