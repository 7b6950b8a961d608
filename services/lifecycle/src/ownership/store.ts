// All SQL on who owns what (docs/reference/data.md#database). Gate and write are one transaction; the lock of an account comes before
// that of a row, and of two accounts the one that sorts first.

import { ownership as contracts, type RetireState, worlds } from "@svc/proto";
import { outboxRow, type Trx } from "@svc/store";
import { sql } from "kysely";
import { lockAccounts, type Usage, usageOf } from "../database/account-usage.ts";
import { type Audit, insertAudit } from "../database/audit.ts";
import { forgetPlayers } from "../database/forget-players.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { type Costs, costColumns, lockRow, type ServerRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { endAccessOf } from "../sharing/end-access.ts";

type Transfer = { transferId: string; from: string; to: string };

type Claim = { name: string; accountId: string; audit: Audit };
type Retirement = {
  /** Throws what refuses it, or answers what is pending from now on. */
  decide: (row: ServerRow) => RetireState;
  auditOf: (retiring: RetireState) => Audit;
};
type Cancelling = {
  /** Throws what refuses it. */
  check: (row: ServerRow) => void;
  audit: Audit;
};

export type OwnershipStore = {
  /**
   * Gives a server to an account. `check` gets row and usage while nobody else can change either; it throws what refuses
   * the claim and resolves with the server's current costs. Resolves with false when there is no such row.
   */
  claim: (about: Claim, check: (row: ServerRow, used: Usage) => Promise<Costs>) => Promise<boolean>;
  /** Records a retirement; resolves with what is pending. */
  retire: (name: string, retirement: Retirement) => Promise<RetireState | undefined>;
  cancelRetirement: (name: string, cancelling: Cancelling) => Promise<void>;
  releaseAccount: (accountId: string) => Promise<string[]>;
  /** Transfers all servers, or throws what `check` throws. A repeat resolves with the first result. */
  transfer: (about: Transfer, check: (used: Usage, more: Usage) => void) => Promise<string[]>;
  /** Since when an account owns a server; undefined when it does not, or nobody wrote down since when. */
  claimedAt: (name: string, accountId: string) => Promise<Date | undefined>;
  usage: (accountId: string) => Promise<Usage>;
  count: (accountIds: readonly string[]) => Promise<Record<string, number>>;
};

export function createOwnershipStore(store: LifecycleStore): OwnershipStore {
  return {
    claim: withDatabaseFaults((about, check) => claim(store, about, check)),
    retire: withDatabaseFaults((name, retirement) => retire(store, name, retirement)),
    cancelRetirement: withDatabaseFaults((name, cancelling) => cancelRetirement(store, name, cancelling)),
    releaseAccount: withDatabaseFaults((accountId) => releaseAccount(store, accountId)),
    transfer: withDatabaseFaults((about, check) => transfer(store, about, check)),
    claimedAt: withDatabaseFaults(async (name, accountId) => {
      const query = store.db.selectFrom("servers").select("claimed_at").where("name", "=", name);
      const row = await query
        .where("owner_id", "=", accountId)
        .where("deleted_at", "is", null)
        .executeTakeFirst();
      return row?.claimed_at ?? undefined;
    }),
    usage: withDatabaseFaults((accountId) => usageOf(store.db, accountId)),
    count: withDatabaseFaults(async (accountIds) => {
      const rows = await store.db
        .selectFrom("servers")
        .select(["owner_id", sql<number>`count(*)`.as("owned")])
        .where("owner_id", "=", sql<string>`any(${[...accountIds]}::text[])`)
        .where("deleted_at", "is", null)
        .groupBy("owner_id")
        .execute();
      return Object.fromEntries(rows.map(({ owner_id, owned }) => [owner_id ?? "", owned]));
    }),
  };
}

type T = Trx<Tables>;

const clearedWarnings = { warned_3d_at: null, warned_1d_at: null };

async function emptyAllowlists(trx: T, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const isOne = sql<string>`any(${[...names]}::text[])`;
  await trx.deleteFrom("server_allowlist").where("server_name", "=", isOne).execute();
}

async function claim(
  { db }: LifecycleStore,
  { name, accountId, audit }: Claim,
  check: (row: ServerRow, used: Usage) => Promise<Costs>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockAccounts(trx, accountId);
    const row = await lockRow(trx, name);
    if (!row) return false;
    const costs = await check(row, await usageOf(trx, accountId));
    const now = sql<Date>`now()`;
    const taken = await trx
      .updateTable("servers")
      .set({
        owner_id: accountId,
        claimed_at: now,
        last_active_at: now,
        ...clearedWarnings,
        ...costColumns(costs),
      })
      .where("name", "=", name)
      .where("owner_id", "is", null)
      .executeTakeFirst();
    if (taken.numUpdatedRows !== 1n) throw new Error(`the row of ${name} changed under its lock`);
    await emptyAllowlists(trx, [name]);
    await forgetPlayers(trx, [name]);
    const event = { name, user_id: accountId, at: new Date().toISOString() };
    await trx.insertInto("outbox").values(outboxRow(contracts.serverClaimed, event)).execute();
    await insertAudit(trx, audit);
    return true;
  });
}

async function retire(
  { db }: LifecycleStore,
  name: string,
  { decide, auditOf }: Retirement,
): Promise<RetireState | undefined> {
  return db.transaction().execute(async (trx) => {
    const before = await lockRow(trx, name);
    if (!before) return undefined;
    const retiring = decide(before);
    if (before.retiring && before.retiring.delete === retiring.delete) return retiring;
    await trx
      .updateTable("servers")
      .set({ retire_requested_at: new Date(retiring.requested_at), retire_delete: retiring.delete })
      .where("name", "=", name)
      .execute();
    const event = { name, delete: retiring.delete, at: new Date().toISOString() };
    await trx.insertInto("outbox").values(outboxRow(contracts.retirementRequested, event)).execute();
    await insertAudit(trx, auditOf(retiring));
    return retiring;
  });
}

async function cancelRetirement(
  { db }: LifecycleStore,
  name: string,
  { check, audit }: Cancelling,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const before = await lockRow(trx, name);
    if (!before) return;
    check(before);
    if (!before.retiring) return;
    const cleared = { retire_requested_at: null, retire_delete: false };
    await trx.updateTable("servers").set(cleared).where("name", "=", name).execute();
    const event = { name, at: new Date().toISOString() };
    await trx.insertInto("outbox").values(outboxRow(contracts.retirementCancelled, event)).execute();
    await insertAudit(trx, audit);
  });
}

// A pending retirement stays; the idle clock of the other servers restarts, so that nothing is archived at once.
async function releaseAccount({ db }: LifecycleStore, accountId: string): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await lockAccounts(trx, accountId);
    await endAccessOf(trx, accountId);
    await setCreator(trx, accountId, null);
    const rows = await trx
      .updateTable("servers")
      .set({ owner_id: null, claimed_at: null, last_active_at: sql<Date>`now()`, ...clearedWarnings })
      .where("owner_id", "=", accountId)
      .returning("name")
      .execute();
    const names = rows.map(({ name }) => name).sort();
    await emptyAllowlists(trx, names);
    await forgetPlayers(trx, names);
    const at = new Date().toISOString();
    const events = names.map((name) =>
      outboxRow(worlds.serverReleased, { name, outcome: "account-deleted", at }),
    );
    if (events.length > 0) await trx.insertInto("outbox").values(events).execute();
    return names;
  });
}

// Servers that were made for one's own count further, also after a merge.
async function setCreator(trx: T, from: string, to: string | null): Promise<void> {
  await trx.updateTable("servers").set({ created_by: to }).where("created_by", "=", from).execute();
}

async function transfer(
  { db }: LifecycleStore,
  { transferId, from, to }: Transfer,
  check: (used: Usage, more: Usage) => void,
): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await lockAccounts(trx, from, to);
    const done = await trx
      .selectFrom("account_transfers")
      .select("servers")
      .where("transfer_id", "=", transferId)
      .executeTakeFirst();
    if (done) return done.servers;
    check(await usageOf(trx, to), await usageOf(trx, from));
    // A merge leaves behind what others shared with the account that goes (docs/reference/shared-access.md#end).
    await endAccessOf(trx, from);
    await setCreator(trx, from, to);
    const rows = await trx
      .updateTable("servers")
      // The new owner has not been warned yet, and decides anew who may wake the server (docs/reference/claims.md#claim).
      .set({ owner_id: to, ...clearedWarnings })
      .where("owner_id", "=", from)
      .returning("name")
      .execute();
    const servers = rows.map(({ name }) => name).sort();
    await emptyAllowlists(trx, servers);
    const note = { transfer_id: transferId, from_user_id: from, to_user_id: to, servers };
    await trx.insertInto("account_transfers").values(note).execute();
    const at = new Date().toISOString();
    const events = servers.map((name) =>
      outboxRow(contracts.serverTransferred, { name, from_user_id: from, to_user_id: to, at }),
    );
    if (events.length > 0) await trx.insertInto("outbox").values(events).execute();
    return servers;
  });
}
