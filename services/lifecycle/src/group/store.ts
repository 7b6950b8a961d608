// All SQL on groups of servers and their runs. Times come from the caller, so that one clock decides.

import { serverGroups as contracts, Fault } from "@svc/proto";
import type { Trx } from "@svc/store";
import { sql } from "kysely";
import { lockAccounts } from "../database/account-usage.ts";
import { type Audit, insertAudit } from "../database/audit.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { type RowColumns, rowColumns, rowOf, type ServerRow } from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import type { Group } from "./input.ts";
import type { MemberRow, RunRow, StoredGroup } from "./row.ts";

type Db = LifecycleStore["db"] | Trx<Tables>;
type Saving = { accountId: string; now: Date; check: CheckServers; audit: Audit };
/** Throws what refuses the servers of a group; gets the rows of those that exist. */
export type CheckServers = (rows: ReadonlyMap<string, ServerRow>) => void;
type NewRun = Omit<RunRow, "group_id" | "revision" | "cancelling" | "state" | "ended_at" | "stage">;

/** A run with the account of its group. */
export type FoundRun = { accountId: string; groupName: string; row: RunRow };
type RunChange = Pick<RunRow, "stages"> &
  Partial<Pick<RunRow, "stage" | "stage_until" | "state" | "ended_at">>;

export type GroupStore = {
  /** Those of an account by name. */
  list: (accountId: string) => Promise<StoredGroup[]>;
  /** Throws `group_not_found`, also for one of another account. */
  get: (accountId: string, id: string) => Promise<StoredGroup>;
  /** Throws `group_limit`, `group_name_taken` and what `check` throws. */
  insert: (id: string, group: Group, about: Saving) => Promise<void>;
  /** Throws `group_not_found`, `group_running`, `group_name_taken` and what `check` throws. */
  change: (id: string, group: Group, about: Saving) => Promise<void>;
  /** Throws `group_not_found` and `group_running`. */
  remove: (accountId: string, id: string, auditOf: (group: StoredGroup) => Audit) => Promise<void>;
  /** Begins a run. Throws `group_not_found`, `group_running` and what `decide` throws. */
  begin: (
    accountId: string,
    id: string,
    decide: (group: StoredGroup) => { run: NewRun; audit: Audit },
  ) => Promise<void>;
  /** Asks the run to end; nothing changes without one. Throws `group_not_found`. */
  cancel: (accountId: string, id: string, auditOf: (group: StoredGroup) => Audit) => Promise<void>;
  /** Runs that are under way. */
  openRuns: () => Promise<FoundRun[]>;
  /** Of these servers those that are in the group, by name. */
  findMembers: (groupId: string, names: readonly string[]) => Promise<Map<string, ServerRow>>;
  /** Writes what a run came to; undefined when somebody else did since it was read. */
  move: (row: RunRow, change: RunChange) => Promise<RunRow | undefined>;
};

export function createGroupStore({ db }: LifecycleStore): GroupStore {
  /** Runs `work` while nobody else changes groups of the account. */
  const locked = <R>(accountId: string, work: (trx: Trx<Tables>) => Promise<R>): Promise<R> =>
    withDatabaseFaults(() =>
      db.transaction().execute(async (trx) => {
        await lockAccounts(trx, accountId);
        return work(trx);
      }),
    )();
  return {
    list: withDatabaseFaults((accountId) => read(db, accountId)),
    get: withDatabaseFaults((accountId, id) => get(db, accountId, id)),
    insert: (id, group, about) => locked(about.accountId, (trx) => insert(trx, id, { group, ...about })),
    change: (id, group, about) => locked(about.accountId, (trx) => change(trx, id, { group, ...about })),
    remove: (accountId, id, auditOf) =>
      locked(accountId, async (trx) => {
        const group = await getAtRest(trx, accountId, id);
        await trx.deleteFrom("server_groups").where("id", "=", id).execute();
        await insertAudit(trx, auditOf(group));
      }),
    begin: (accountId, id, decide) =>
      locked(accountId, async (trx) => {
        const group = await getAtRest(trx, accountId, id);
        const { run, audit } = decide(group);
        await beginRun(trx, id, { run, revision: (group.run?.revision ?? 0) + 1 });
        await insertAudit(trx, audit);
      }),
    cancel: (accountId, id, auditOf) =>
      locked(accountId, async (trx) => {
        const group = await get(trx, accountId, id);
        if (await cancelRun(trx, id)) await insertAudit(trx, auditOf(group));
      }),
    openRuns: withDatabaseFaults(() => openRuns(db)),
    findMembers: withDatabaseFaults(async (groupId, names) => {
      const members = await readMembers(db, [groupId]);
      const wanted = new Set(names);
      const found = members.filter(({ server_name }) => wanted.has(server_name));
      return new Map(found.map(({ server_name, row }) => [server_name, row]));
    }),
    move: withDatabaseFaults((row, { stages, ...rest }) =>
      db
        .updateTable("server_group_runs")
        .set({ ...rest, stages: JSON.stringify(stages), revision: row.revision + 1 })
        .where("group_id", "=", row.group_id)
        .where("id", "=", row.id)
        .where("state", "=", "running")
        .where("revision", "=", row.revision)
        .returningAll()
        .executeTakeFirst(),
    ),
  };
}

/** Of an account that is deleted or merged. */
export async function deleteGroupsOf(trx: Trx<Tables>, accountId: string): Promise<void> {
  await trx.deleteFrom("server_groups").where("account_id", "=", accountId).execute();
}

async function read(db: Db, accountId: string, id?: string): Promise<StoredGroup[]> {
  const mine = db.selectFrom("server_groups").selectAll().where("account_id", "=", accountId);
  const groups = await (id === undefined ? mine : mine.where("id", "=", id)).orderBy("name").execute();
  const ids = groups.map((group) => group.id);
  if (ids.length === 0) return [];
  const members = await readMembers(db, ids);
  const runs = await db
    .selectFrom("server_group_runs")
    .selectAll()
    .where("group_id", "=", sql<string>`any(${ids}::text[])`)
    .execute();
  return groups.map((row) => ({
    row,
    members: members.filter(({ group_id }) => group_id === row.id),
    run: runs.find(({ group_id }) => group_id === row.id),
  }));
}

async function get(db: Db, accountId: string, id: string): Promise<StoredGroup> {
  const [group] = await read(db, accountId, id);
  if (!group) throw new Fault("group_not_found");
  return group;
}

// A server of another owner than when it was added has left, also when it comes back: then it was claimed anew.
async function readMembers(db: Db, ids: readonly string[]): Promise<MemberRow[]> {
  const columns = sql.join(rowColumns.map((column) => sql.ref(`servers.${column}`)));
  const { rows } = await sql<RowColumns & Omit<MemberRow, "row">>`
    select member.group_id, member.server_name, member.stage, ${columns}
    from server_group_members as member
    join servers on servers.name = member.server_name and servers.deleted_at is null
      and servers.owner_id is not distinct from member.owner_id
      and servers.claimed_at is not distinct from member.claimed_at
    where member.group_id = any(${[...ids]}::text[])
    order by member.stage, member.place`.execute(db);
  return rows.map(({ group_id, server_name, stage, ...row }) => ({
    ...{ group_id, server_name, stage, row: rowOf(row) },
  }));
}

async function getAtRest(db: Db, accountId: string, id: string): Promise<StoredGroup> {
  const group = await get(db, accountId, id);
  if (group.run?.state === "running") throw new Fault("group_running");
  return group;
}

async function assertNameFree(
  trx: Trx<Tables>,
  { accountId, name, id }: { accountId: string; name: string; id: string },
): Promise<void> {
  const other = await trx
    .selectFrom("server_groups")
    .select("id")
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .where("id", "<>", id)
    .executeTakeFirst();
  if (other) throw new Fault("group_name_taken");
}

async function insert(
  trx: Trx<Tables>,
  id: string,
  { group, accountId, now, check, audit }: Saving & { group: Group },
): Promise<void> {
  const { name, stage_seconds } = group;
  await assertNameFree(trx, { accountId, name, id });
  const { count } = await trx
    .selectFrom("server_groups")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  if (count >= contracts.mostGroups) throw new Fault("group_limit");
  const row = { id, account_id: accountId, name, stage_seconds, created_at: now, changed_at: now };
  await trx.insertInto("server_groups").values(row).execute();
  await writeMembers(trx, id, { group, check });
  await insertAudit(trx, audit);
}

async function change(
  trx: Trx<Tables>,
  id: string,
  { group, accountId, now, check, audit }: Saving & { group: Group },
): Promise<void> {
  await getAtRest(trx, accountId, id);
  const { name, stage_seconds } = group;
  await assertNameFree(trx, { accountId, name, id });
  const columns = { name, stage_seconds, changed_at: now };
  await trx.updateTable("server_groups").set(columns).where("id", "=", id).execute();
  await writeMembers(trx, id, { group, check });
  await insertAudit(trx, audit);
}

async function writeMembers(
  trx: Trx<Tables>,
  id: string,
  { group, check }: { group: Group; check: CheckServers },
): Promise<void> {
  const places = group.stages.flatMap((stage, at) =>
    stage.map((name, place) => ({ name, stage: at, place })),
  );
  const names = places.map(({ name }) => name);
  const rows = await trx
    .selectFrom("servers")
    .select(["name", ...rowColumns])
    .where("name", "=", sql<string>`any(${names}::text[])`)
    .where("deleted_at", "is", null)
    .orderBy("name")
    // They keep their owners until the group has them.
    .forShare()
    .execute();
  check(new Map(rows.map((row) => [row.name, rowOf(row)])));
  await trx.deleteFrom("server_group_members").where("group_id", "=", id).execute();
  // From the row itself: a time that was read has lost its microseconds.
  await sql`insert into server_group_members (group_id, server_name, stage, place, owner_id, claimed_at)
    select ${id}, servers.name, given.stage, given.place, servers.owner_id, servers.claimed_at
    from servers join unnest(${names}::text[], ${places.map(({ stage }) => stage)}::smallint[],
      ${places.map(({ place }) => place)}::smallint[]) as given (name, stage, place) on given.name = servers.name`.execute(
    trx,
  );
}

async function beginRun(
  trx: Trx<Tables>,
  group_id: string,
  { run, revision }: { run: NewRun; revision: number },
): Promise<void> {
  const columns = {
    ...{ ...run, stages: JSON.stringify(run.stages) },
    ...({ state: "running", cancelling: false, stage: 0, ended_at: null, revision } as const),
  };
  await trx
    .insertInto("server_group_runs")
    .values({ group_id, ...columns })
    .onConflict((conflict) => conflict.column("group_id").doUpdateSet(columns))
    .execute();
}

/** Whether there was a run to cancel that nobody had cancelled. */
async function cancelRun(trx: Trx<Tables>, groupId: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("server_group_runs")
    .set({ cancelling: true, revision: sql<number>`revision + 1` })
    .where("group_id", "=", groupId)
    .where("state", "=", "running")
    .where("cancelling", "=", false)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function openRuns(db: Db): Promise<FoundRun[]> {
  const rows = await db
    .selectFrom("server_group_runs")
    .innerJoin("server_groups", "server_groups.id", "server_group_runs.group_id")
    .selectAll("server_group_runs")
    .select(["server_groups.account_id", "server_groups.name as group_name"])
    .where("state", "=", "running")
    .orderBy("group_id")
    .execute();
  return rows.map(({ account_id: accountId, group_name: groupName, ...row }) => ({
    ...{ accountId, groupName, row },
  }));
}
