// The audit entries of one server as its owner sees them (docs/reference/audit.md#activity).

import type { Role, settings } from "@svc/proto";
import type { IdentityDb } from "../database.ts";
import { accessChangeOf, accountOfAccess } from "./access-change.ts";
import { type AuditFilter, type EntryRow, readPage } from "./search.ts";

type Page = { entries: settings.ActivityEntry[]; next?: string };
type Account = { username: string; role: Role };

/** One page; `bad_cursor` when the cursor is none of ours. */
export async function listActivity(
  db: IdentityDb,
  filter: Omit<AuditFilter, "actor" | "action" | "until"> & { server: string },
  viewer: string,
): Promise<Page | "bad_cursor"> {
  const page = await readPage(db, filter);
  if (page === "bad_cursor") return page;
  const { rows, next } = page;
  const accounts = await findAccounts(db, rows);
  const entries = rows.map((row) => ({
    ...toActivity(row, { viewer, account: accounts.get(row.actor_user_id ?? "") }),
    ...accessOf(row, accounts),
  }));
  return { entries, ...(next !== undefined && { next }) };
}

async function findAccounts(db: IdentityDb, rows: readonly EntryRow[]): Promise<Map<string, Account>> {
  const ids = [...new Set(rows.flatMap((row) => [row.actor_user_id, accountOfAccess(row)]))].filter(
    (id) => typeof id === "string",
  );
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom("users")
    .select(["id", "username", "role"])
    .where("id", "in", ids)
    .execute();
  return new Map(found.map(({ id, ...account }) => [id, account]));
}

function accessOf(
  row: Pick<EntryRow, "action" | "payload">,
  accounts: Map<string, Account>,
): Pick<settings.ActivityEntry, "access"> {
  const change = accessChangeOf(row);
  const account = accounts.get(accountOfAccess(row) ?? "")?.username;
  return change ? { access: { ...(account !== undefined && { account }), ...change } } : {};
}

/** `account` is that of the actor, when it still exists. */
function toActivity(
  row: Omit<EntryRow, "entry_id" | "actor" | "client_ip" | "user_agent" | "request_id">,
  { viewer, account }: { viewer: string; account: Account | undefined },
): settings.ActivityEntry {
  const by = actorOf(row, { viewer, account });
  return {
    id: row.id,
    at: row.created_at.toISOString(),
    action: row.action,
    by,
    ...(by === "account" && account && { name: account.username }),
    payload: { ...visiblePayload(row.payload, by), ...pathOf(row) },
  };
}

/** Entries of files name them behind the server. */
function pathOf({ server_name: name }: Pick<EntryRow, "server_name">): { path?: string } {
  const colon = name?.indexOf(":") ?? -1;
  return name === null || colon < 0 ? {} : { path: name.slice(colon + 1) };
}

function actorOf(
  { source, actor_user_id: userId }: Pick<EntryRow, "source" | "actor_user_id">,
  { viewer, account }: { viewer: string; account: Account | undefined },
): settings.ActivityEntry["by"] {
  if (userId !== null && userId === viewer) return "you";
  if (source === "external" || source.startsWith("token:"))
    return account && account.role !== "user" ? "staff" : "account";
  return source === "internal:velocity" || source === "internal:limbo" ? "player" : "svc";
}

/** What says nothing secret about anybody: names of things, numbers, codes. */
const shown = new Set([
  ...[
    "fields",
    "image_from",
    "image_to",
    "delete",
    "outcome",
    "result",
    "code",
    "chain_code",
    "cause",
    "reason",
  ],
  ...["backup_id", "drill", "only", "pinned", "safety_snapshot", "size_bytes"],
  ...["path", "from", "to", "overwrite", "op"],
  ...["id", "schedule_action", "every_minutes", "minute_of_day", "weekdays", "timezone", "enabled"],
  ...["trigger", "trigger_minutes", "pause_minutes", "happened_at", "about"],
  ...["action", "player", "node", "group", "mc_uuid"],
  ...["host", "format", "public"],
]);
/** Free text, which only its author sees again. */
const shownToAuthor = new Set([...shown, "command", "label", "server_group"]);

function visiblePayload(payload: unknown, by: settings.ActivityEntry["by"]): Record<string, unknown> {
  const keys = by === "you" ? shownToAuthor : shown;
  return Object.fromEntries(Object.entries(payload ?? {}).filter(([key]) => keys.has(key)));
}
