// All SQL on servers. Every function is one statement unless its name says otherwise.

import { servers as contracts, type Phase, type RetireState } from "@svc/proto";
import { asFault, outboxRow } from "@svc/store";
import { sql } from "kysely";
import type { LifecycleStore } from "./schema.ts";

/** What the database adds to a server's object. */
export type ServerRow = {
  ownerId: string | undefined;
  retiring: RetireState | undefined;
};

export type Costs = { cpuMilli: number; memoryMb: number; storageMb: number };

export type ServerStore = {
  find: (name: string) => Promise<ServerRow | undefined>;
  rowsOf: (names: readonly string[]) => Promise<Map<string, ServerRow>>;
  subdomainHolder: (subdomain: string) => Promise<string | undefined>;
  /** Makes or completes the rows of a new server and tells of it; false when the subdomain is taken. */
  insert: (server: { name: string; subdomain: string; costs: Costs }) => Promise<boolean>;
  setCosts: (name: string, costs: Costs) => Promise<void>;
  /** Whether one of the players is on the list and was not revoked. */
  isAllowed: (name: string, players: readonly string[]) => Promise<boolean>;
  /** Milliseconds of the cooldown that are left; 0 when a wake may go on. */
  cooldownLeft: (name: string, cooldownMs: number) => Promise<number>;
  /** Remembers a wake unless another came first: then the milliseconds that are left. */
  takeWake: (name: string, cooldownMs: number) => Promise<number>;
  /** Gives a wake back that did not come about. */
  returnWake: (name: string) => Promise<void>;
  recordJoin: (name: string, player: string, at: Date) => Promise<void>;
  phases: () => Promise<Map<string, string | null>>;
  /** Adopts an object that was made without this service. */
  adopt: (name: string, subdomain: string) => Promise<void>;
  /** Writes a phase and the event of its change in one statement; false when the row says something else. */
  changePhase: (change: PhaseChange) => Promise<boolean>;
  phaseOf: (name: string) => Promise<string | null | undefined>;
  ping: () => Promise<void>;
};

export type PhaseChange = { name: string; known: string | null; to: Phase; reason: string; at: Date };

export function createServerStore(store: LifecycleStore): ServerStore {
  const { db } = store;
  const guarded =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      work(...args).catch((error: unknown) => {
        throw asFault(error);
      });
  return {
    ping: store.ping,
    find: guarded(async (name) => {
      const row = await db
        .selectFrom("servers")
        .select(["owner_id", "retire_requested_at", "retire_delete"])
        .where("name", "=", name)
        .executeTakeFirst();
      return row && rowOf(row);
    }),
    rowsOf: guarded(async (names) => {
      const rows = await db
        .selectFrom("servers")
        .select(["name", "owner_id", "retire_requested_at", "retire_delete"])
        .where("name", "=", sql<string>`any(${[...names]}::text[])`)
        .execute();
      return new Map(rows.map((row) => [row.name, rowOf(row)]));
    }),
    subdomainHolder: guarded(async (subdomain) => {
      const query = db.selectFrom("server_aliases").select("server_name").where("subdomain", "=", subdomain);
      return (await query.executeTakeFirst())?.server_name;
    }),
    insert: guarded((server) => insertServer(store, server)),
    setCosts: guarded(async (name, costs) => {
      await db.updateTable("servers").set(columnsOf(costs)).where("name", "=", name).execute();
    }),
    isAllowed: guarded(async (name, players) => {
      if (players.length === 0) return false;
      const query = db
        .selectFrom("server_allowlist")
        .select("server_name")
        .where("server_name", "=", name)
        .where("mc_uuid", "in", [...players])
        .where("revoked_at", "is", null)
        .limit(1);
      return (await query.executeTakeFirst()) !== undefined;
    }),
    cooldownLeft: guarded(async (name, cooldownMs) => {
      const query = db.selectFrom("servers").select(leftOf(cooldownMs).as("left")).where("name", "=", name);
      return Math.max(0, Number((await query.executeTakeFirst())?.left ?? 0));
    }),
    takeWake: guarded((name, cooldownMs) => takeWake(store, name, cooldownMs)),
    returnWake: guarded(async (name) => {
      await db.updateTable("servers").set({ last_wake_at: null }).where("name", "=", name).execute();
    }),
    recordJoin: guarded((name, player, at) => recordJoin(store, name, { player, at })),
    phases: guarded(async () => {
      const rows = await db.selectFrom("servers").select(["name", "cached_phase"]).execute();
      return new Map(rows.map((row) => [row.name, row.cached_phase]));
    }),
    adopt: guarded(async (name, subdomain) => {
      await sql`with made as (insert into servers (name) values (${name}) on conflict do nothing returning name)
        insert into server_aliases (subdomain, server_name) select ${subdomain}, name from made
        on conflict do nothing`.execute(db);
    }),
    changePhase: guarded((change) => changePhase(store, change)),
    phaseOf: guarded(async (name) => {
      const query = db.selectFrom("servers").select("cached_phase").where("name", "=", name);
      return (await query.executeTakeFirst())?.cached_phase;
    }),
  };
}

type RawRow = { owner_id: string | null; retire_requested_at: Date | null; retire_delete: boolean };

function rowOf(row: RawRow): ServerRow {
  const requestedAt = row.retire_requested_at;
  return {
    ownerId: row.owner_id ?? undefined,
    retiring: requestedAt
      ? { requested_at: requestedAt.toISOString(), delete: row.retire_delete }
      : undefined,
  };
}

function columnsOf({ cpuMilli, memoryMb, storageMb }: Costs) {
  return { cached_cpu_milli: cpuMilli, cached_memory_mb: memoryMb, cached_storage_mb: storageMb };
}

async function insertServer(
  { db }: LifecycleStore,
  { name, subdomain, costs }: { name: string; subdomain: string; costs: Costs },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const columns = columnsOf(costs);
    const made = await trx
      .insertInto("servers")
      .values({ name, ...columns })
      // A row without an object is what a creation left that did not get through, or a deleted server.
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ ...columns, deleted_at: null }))
      .returning(sql<boolean>`xmax = 0`.as("is_new"))
      .executeTakeFirstOrThrow();
    await trx.deleteFrom("server_aliases").where("server_name", "=", name).execute();
    const alias = await trx
      .insertInto("server_aliases")
      .values({ subdomain, server_name: name })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (alias.numInsertedOrUpdatedRows === 0n) {
      await trx.deleteFrom("servers").where("name", "=", name).where(sql<boolean>`${made.is_new}`).execute();
      return false;
    }
    if (made.is_new) {
      const event = { name, subdomain, at: new Date().toISOString() };
      await trx.insertInto("outbox").values(outboxRow(contracts.serverCreated, event)).execute();
    }
    return true;
  });
}

function leftOf(cooldownMs: number) {
  return sql<number | null>`extract(epoch from last_wake_at - now()) * 1000 + ${cooldownMs}::float8`;
}

async function takeWake({ db }: LifecycleStore, name: string, cooldownMs: number): Promise<number> {
  const taken = await db
    .updateTable("servers")
    .set({ last_wake_at: sql<Date>`now()` })
    .where("name", "=", name)
    .where((where) => where.or([where("last_wake_at", "is", null), where(leftOf(cooldownMs), "<=", 0)]))
    .executeTakeFirst();
  if (taken.numUpdatedRows > 0n) return 0;
  const query = db.selectFrom("servers").select(leftOf(cooldownMs).as("left")).where("name", "=", name);
  return Math.max(0, Number((await query.executeTakeFirst())?.left ?? 0));
}

async function recordJoin(
  { db }: LifecycleStore,
  name: string,
  { player, at }: { player: string; at: Date },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto("servers")
      .values({ name, last_active_at: at })
      .onConflict((conflict) =>
        conflict.column("name").doUpdateSet({ last_active_at: at, warned_3d_at: null, warned_1d_at: null }),
      )
      .execute();
    await trx
      .insertInto("server_allowlist")
      .values({ server_name: name, mc_uuid: player, added_at: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const event = { name, mc_uuid: player, at: at.toISOString() };
    await trx.insertInto("outbox").values(outboxRow(contracts.playerJoined, event)).execute();
  });
}

async function changePhase({ db }: LifecycleStore, change: PhaseChange): Promise<boolean> {
  const { name, known, to, reason, at } = change;
  const from = (known ?? "Unknown") as Phase;
  const event = outboxRow(contracts.serverPhaseChanged, { name, from, to, reason, at: at.toISOString() });
  const { rows } = await sql<{ id: number }>`with changed as (
      update servers set cached_phase = ${to}
      where name = ${name} and cached_phase is not distinct from ${known} returning name
    ) insert into outbox (subject, body) select ${event.subject}, ${event.body} from changed returning id`.execute(
    db,
  );
  return rows.length > 0;
}
