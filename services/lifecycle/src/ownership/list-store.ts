// SQL of the lists that players see: their own servers, the lobby's menu, the allowlist.

import { systemNames } from "@svc/proto";
import { sql } from "kysely";
import { hasRight } from "../access/assert.ts";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { type RowColumns, rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { isMember, sharedRows } from "../database/shared-rows.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

type ListedRow = { name: string; subdomain: string | undefined; row: ServerRow };
/** Names of servers by their relation to one player; `shared`: with the right `power`. */
type MenuNames = { retiring: Set<string>; owned: Set<string>; listed: Set<string>; shared: Set<string> };
type ListedPlayer = { mcUuid: string; addedAt: Date; canWake: boolean };

export type ListStore = {
  /** Servers that an account owns, could claim or has access to, after a name and in its order. */
  ownedOrClaimable: (accountId: string, after: string, limit: number) => Promise<ListedRow[]>;
  menuNames: (player: string, accountId: string | undefined) => Promise<MenuNames>;
  /** Players who joined, the newest first. */
  allowlist: (name: string, limit: number) => Promise<ListedPlayer[]>;
  setWakeRight: (right: WakeRight, change: RightChange) => Promise<"changed" | "same" | "unlisted">;
};

type RightChange = {
  /** Throws when the caller may not change it. */
  check: (row: ServerRow) => void;
  audit: Audit;
};

type WakeRight = { name: string; player: string; canWake: boolean };

export function createListStore(store: LifecycleStore): ListStore {
  const { db } = store;
  return {
    ownedOrClaimable: withDatabaseFaults((accountId, after, limit) =>
      ownedOrClaimable(store, accountId, { after, limit }),
    ),
    menuNames: withDatabaseFaults((player, accountId) => menuNames(store, player, accountId)),
    allowlist: withDatabaseFaults(async (name, limit) => {
      const rows = await db
        .selectFrom("server_allowlist")
        .select(["mc_uuid", "added_at", "revoked_at"])
        .where("server_name", "=", name)
        .orderBy("added_at", "desc")
        .orderBy("mc_uuid")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        mcUuid: row.mc_uuid,
        addedAt: row.added_at,
        canWake: row.revoked_at === null,
      }));
    }),
    setWakeRight: withDatabaseFaults((right, change) => setWakeRight(store, right, change)),
  };
}

// Three short scans of their own indexes; one condition with "or" would read every row that others own.
async function ownedOrClaimable(
  { db }: LifecycleStore,
  accountId: string,
  { after, limit }: { after: string; limit: number },
): Promise<ListedRow[]> {
  const columns = ["name", ...rowColumns] as const;
  const page = db.selectFrom("servers").select(columns).where("deleted_at", "is", null);
  const owned = page.where("owner_id", "=", accountId).where("name", ">", after).orderBy("name").limit(limit);
  const claimable = page
    .where("owner_id", "is", null)
    .where("retire_requested_at", "is", null)
    .where("offered", "=", true)
    .where("name", "not in", [...systemNames])
    .where("name", ">", after)
    .orderBy("name")
    .limit(limit);
  const shared = page.where(isMember(accountId)).where("name", ">", after).orderBy("name").limit(limit);
  const { rows } = await sql<RowColumns & { name: string; subdomain: string | null }>`
    select listed.*, alias.subdomain from ((${owned}) union all (${claimable}) union all (${shared})) listed
    left join server_aliases alias on alias.server_name = listed.name
    order by listed.name limit ${limit}`.execute(db);
  return rows.map((row) => ({
    name: row.name,
    subdomain: row.subdomain ?? undefined,
    row: rowOf(row),
  }));
}

// Only the few servers that differ from the rest for this player.
async function menuNames(
  { db }: LifecycleStore,
  player: string,
  accountId: string | undefined,
): Promise<MenuNames> {
  const { rows } = await sql<{ name: string; what: "retiring" | "owned" | "listed" }>`
    select name, 'retiring' as what from servers where retire_requested_at is not null and deleted_at is null
    union all
    select name, 'owned' from servers where owner_id = ${accountId ?? null} and deleted_at is null
    union all
    select server_name, 'listed' from server_allowlist where mc_uuid = ${player}::uuid and revoked_at is null`.execute(
    db,
  );
  const names = { retiring: new Set<string>(), owned: new Set<string>(), listed: new Set<string>() };
  for (const { name, what } of rows) names[what].add(name);
  return { ...names, shared: accountId === undefined ? new Set() : await withPower(db, accountId) };
}

async function withPower(db: LifecycleStore["db"], accountId: string): Promise<Set<string>> {
  const shared = await sharedRows(db, accountId);
  return new Set(shared.filter((one) => hasRight(accountId, one, "power")).map(({ name }) => name));
}

async function setWakeRight(
  { db }: LifecycleStore,
  { name, player, canWake }: WakeRight,
  { check, audit }: RightChange,
): Promise<"changed" | "same" | "unlisted"> {
  return db.transaction().execute(async (trx) => {
    const query = trx.selectFrom("servers").select(rowColumns).where("name", "=", name);
    // The owner cannot change until the right is written.
    const row = await query.where("deleted_at", "is", null).forShare().executeTakeFirst();
    if (!row) return "unlisted";
    check(rowOf(row));
    const entry = await trx
      .selectFrom("server_allowlist")
      .select("revoked_at")
      .where("server_name", "=", name)
      .where("mc_uuid", "=", player)
      .forUpdate()
      .executeTakeFirst();
    if (!entry) return "unlisted";
    if ((entry.revoked_at === null) === canWake) return "same";
    await trx
      .updateTable("server_allowlist")
      .set({ revoked_at: canWake ? null : sql<Date>`now()` })
      .where("server_name", "=", name)
      .where("mc_uuid", "=", player)
      .execute();
    await insertAudit(trx, audit);
    return "changed";
  });
}
