// SQL on servers that every operation shares. Who owns them is in ownership/store.ts, the reaper's part in world/store.ts.

import { auditSubject, clones, servers as contracts, Fault, ownership, players } from "@svc/proto";
import { claimRequest, outboxRow, type Trx } from "@svc/store";
import { sql } from "kysely";
import { countMade, lockAccounts, type Usage, usageOf } from "../database/account-usage.ts";
import { type Audit, type AuditStore, createAuditStore, insertAudit } from "../database/audit.ts";
import { deleteHistory } from "../database/delete-history.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import {
  type Costs,
  costColumns,
  lockRow,
  rowColumns,
  rowOf,
  type ServerRow,
} from "../database/server-row.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";
import { changePhases, type PhaseChange, phaseBatch } from "./phase-store.ts";
import { findNames, findPlayersNamed, rememberName } from "./player-names.ts";
import { createWriteBatcher } from "./write-batcher.ts";

type NewServer = {
  name: string;
  subdomain: string;
  costs: Costs;
  offered: boolean;
  /** Account that owns it from the start. */
  ownerId?: string | undefined;
  /** Whether the owner made it for itself, which counts against what accounts may make. */
  isOwn?: boolean;
};

/** What happens while the rows of a new server are written. */
type Creation = {
  /**
   * Throws when the account may not own it; nobody else can claim for that account in the meantime. `made`: servers that are
   * there and that the account has made, whoever owns them.
   */
  checkOwner: (used: Usage, made: number) => Promise<void>;
  makeObject: () => Promise<void>;
  audit: Audit;
  /** For a clone: how its world comes to it, and whose allowlist it takes over. */
  order?: clones.CloneOrder | undefined;
  allowlistOf?: string | undefined;
  /** What the owner of the source is told. */
  auditOfSource?: Audit;
};

/** An object that was created without this service, or whose creation was not recorded. */
export type Adoption = Pick<NewServer, "name" | "subdomain" | "offered"> & {
  order?: clones.CloneOrder | undefined;
  /** The account that made it for itself. */
  creator?: { id: string; costs: Costs } | undefined;
};

export type ServerStore = {
  audits: AuditStore;
  /** Before a change of the cluster: from then on a repeat of the served request changes nothing (ADR 0014). */
  claimRequest: () => Promise<void>;
  find: (name: string) => Promise<ServerRow | undefined>;
  rowsOf: (names: readonly string[]) => Promise<Map<string, ServerRow>>;
  subdomainHolder: (subdomain: string) => Promise<string | undefined>;
  /**
   * Creates the rows of a new server, its event and its object, all or nothing. Throws what `checkOwner` throws,
   * `subdomain_taken`, and `name_taken` when the name is still in use.
   */
  insert: (server: NewServer, creation: Creation) => Promise<void>;
  /** Writes the costs that `read` resolves with, under the row's lock; undefined leaves them. */
  refreshCosts: (name: string, read: () => Promise<Costs | undefined>) => Promise<void>;
  /** Whether one of the players is on the allowlist and not revoked. */
  isAllowed: (name: string, players: readonly string[]) => Promise<boolean>;
  /** The maintenance window that lasts now and ends last. */
  findWindow: (now: Date) => Promise<MaintenanceWindow | undefined>;
  /** Remaining milliseconds of the cooldown; 0 when a wake is allowed. */
  cooldownLeft: (name: string, cooldownMs: number) => Promise<number>;
  /**
   * Records a wake and settles its change. True when the server is being given up: then nothing is recorded, and the
   * change is dropped.
   */
  recordWake: (name: string, wake: Wake) => Promise<boolean>;
  recordJoin: (name: string, player: PlayerMove) => Promise<void>;
  /** Names that players had at their last join, by UUID. */
  playerNames: (uuids: readonly string[]) => Promise<Record<string, string>>;
  /** Players whose names at their last join contain a text. */
  playersNamed: (text: string) => Promise<string[]>;
  /** Publishes that a player left; nothing else is stored. */
  recordLeave: (name: string, player: PlayerMove) => Promise<void>;
  phases: () => Promise<Map<string, string | null>>;
  /** Creates the rows of an object that has none. */
  adopt: (server: Adoption) => Promise<void>;
  /** Writes a phase and its event in one statement; false when the row has another phase than `known`. */
  changePhase: (change: PhaseChange) => Promise<boolean>;
  phaseOf: (name: string) => Promise<string | null | undefined>;
  ping: () => Promise<void>;
};

type MaintenanceWindow = { text_en: string; ends_at: Date };

type Wake = {
  startsCooldown: boolean;
  /** The admitted change, when the wake has an audit entry. */
  change: string | undefined;
};

type PlayerMove = {
  uuid: string;
  name: string | undefined;
  reason?: string | undefined;
  at: Date;
};

export function createServerStore(store: LifecycleStore): ServerStore {
  const { db } = store;
  return {
    audits: createAuditStore(store),
    ping: store.ping,
    claimRequest: withDatabaseFaults(() => claimRequest(db)),
    find: withDatabaseFaults(async (name) => {
      const query = db.selectFrom("servers").select(rowColumns).where("name", "=", name);
      const row = await query.where("deleted_at", "is", null).executeTakeFirst();
      return row && rowOf(row);
    }),
    rowsOf: withDatabaseFaults(async (names) => {
      const rows = await db
        .selectFrom("servers")
        .select(["name", ...rowColumns])
        .where("name", "=", sql<string>`any(${[...names]}::text[])`)
        .where("deleted_at", "is", null)
        .execute();
      return new Map(rows.map((row) => [row.name, rowOf(row)]));
    }),
    subdomainHolder: withDatabaseFaults(async (subdomain) => {
      const query = db.selectFrom("server_aliases").select("server_name").where("subdomain", "=", subdomain);
      return (await query.executeTakeFirst())?.server_name;
    }),
    insert: withDatabaseFaults((server, creation) => insertServer(store, server, creation)),
    refreshCosts: withDatabaseFaults((name, read) => refreshCosts(store, name, read)),
    isAllowed: withDatabaseFaults(async (name, players) => {
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
    findWindow: withDatabaseFaults((now) => findWindow(store, now)),
    cooldownLeft: withDatabaseFaults(async (name, cooldownMs) => {
      const query = db
        .selectFrom("servers")
        .select(remainingCooldown(cooldownMs).as("left"))
        .where("name", "=", name);
      return Math.max(0, Number((await query.executeTakeFirst())?.left ?? 0));
    }),
    recordWake: withDatabaseFaults((name, wake) => recordWake(store, name, wake)),
    recordJoin: withDatabaseFaults((name, player) => recordJoin(store, name, player)),
    playerNames: withDatabaseFaults((uuids) => findNames(store, uuids)),
    playersNamed: withDatabaseFaults((text) => findPlayersNamed(store, text)),
    recordLeave: withDatabaseFaults(async (name, { uuid, name: player_name, reason, at }) => {
      const left = { name, mc_uuid: uuid, player_name, reason, at: at.toISOString() };
      await db.insertInto("outbox").values(outboxRow(players.playerLeft, left)).execute();
    }),
    phases: withDatabaseFaults(async () => {
      const query = db.selectFrom("servers").select(["name", "cached_phase"]).where("deleted_at", "is", null);
      return new Map((await query.execute()).map((row) => [row.name, row.cached_phase]));
    }),
    adopt: withDatabaseFaults((server) => adopt(store, server)),
    changePhase: withDatabaseFaults(
      createWriteBatcher({ ...phaseBatch, run: (changes) => changePhases(store, changes) }),
    ),
    phaseOf: withDatabaseFaults(async (name) => {
      const query = db.selectFrom("servers").select("cached_phase").where("name", "=", name);
      return (await query.executeTakeFirst())?.cached_phase;
    }),
  };
}

function findWindow({ db }: LifecycleStore, now: Date): Promise<MaintenanceWindow | undefined> {
  return db
    .selectFrom("announcements")
    .select(["text_en", "ends_at"])
    .where("maintenance", "=", true)
    .where("ended_at", "is", null)
    .where("starts_at", "<=", now)
    .where("ends_at", ">", now)
    .orderBy("ends_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

// Resets what a deleted server or a failed creation left in the row.
const resetColumns = {
  owner_id: null,
  claimed_at: null,
  last_active_at: sql<Date>`now()`,
  warned_3d_at: null,
  warned_1d_at: null,
  cached_phase: null,
  created_at: sql<Date>`now()`,
  deleted_at: null,
  retire_requested_at: null,
  retire_delete: false,
  last_wake_at: null,
  created_by: null,
};

// The object is created before the commit: two creations of one name wait for each other here, so that the alias matches
// the object. A process that dies in between leaves an object without rows, and the leader adopts it.
async function insertServer(
  { db }: LifecycleStore,
  { name, subdomain, costs, offered, ownerId, isOwn }: NewServer,
  { checkOwner, makeObject, audit, order, allowlistOf, auditOfSource }: Creation,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (ownerId !== undefined) {
      await lockAccounts(trx, ownerId);
      await checkOwner(await usageOf(trx, ownerId), await countMade(trx, ownerId));
    }
    const before = await lockRow(trx, name);
    if (before?.ownerId !== undefined || before?.retiring) {
      throw new Fault("name_taken", {
        message: "The name still belongs to a server whose object is gone; delete that server first.",
      });
    }
    const owned = ownerId === undefined ? {} : ownedBy(ownerId);
    const created = isOwn && ownerId !== undefined ? { created_by: ownerId } : {};
    const columns = { ...resetColumns, ...costColumns(costs), ...owned, ...created, offered };
    await trx
      .insertInto("servers")
      .values({ name, ...columns })
      .onConflict((conflict) => conflict.column("name").doUpdateSet(columns))
      .execute();
    await trx.deleteFrom("server_allowlist").where("server_name", "=", name).execute();
    if (allowlistOf !== undefined) await copyAllowlist(trx, { from: allowlistOf, to: name });
    await trx.deleteFrom("server_aliases").where("server_name", "=", name).execute();
    await deleteHistory(trx, name);
    const alias = await trx
      .insertInto("server_aliases")
      .values({ subdomain, server_name: name })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (alias.numInsertedOrUpdatedRows === 0n) throw new Fault("subdomain_taken");
    const event = { name, subdomain, at: new Date().toISOString() };
    const claimed =
      ownerId === undefined
        ? []
        : [outboxRow(ownership.serverClaimed, { name, user_id: ownerId, at: event.at })];
    await trx
      .insertInto("outbox")
      .values([outboxRow(contracts.serverCreated, event), ...claimed, ...ordered(name, order)])
      .execute();
    await insertAudit(trx, audit);
    if (auditOfSource) await insertAudit(trx, auditOfSource);
    await makeObject();
  });
}

const ownedBy = (ownerId: string) => ({ owner_id: ownerId, claimed_at: sql<Date>`now()` });

function ordered(name: string, order: clones.CloneOrder | undefined) {
  return order ? [outboxRow(clones.cloned, { ...order, name })] : [];
}

// Who lost the right to wake the source does not get it at the clone.
async function copyAllowlist(trx: Trx<Tables>, { from, to }: { from: string; to: string }): Promise<void> {
  await sql`insert into server_allowlist (server_name, mc_uuid, added_at, revoked_at)
    select ${to}, mc_uuid, added_at, revoked_at from server_allowlist where server_name = ${from}`.execute(
    trx,
  );
}

async function refreshCosts(
  { db }: LifecycleStore,
  name: string,
  read: () => Promise<Costs | undefined>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await lockRow(trx, name))) return;
    const costs = await read();
    if (!costs) return;
    await trx.updateTable("servers").set(costColumns(costs)).where("name", "=", name).execute();
  });
}

// In one statement, because a player waits for it.
async function recordWake(
  { db }: LifecycleStore,
  name: string,
  { startsCooldown, change }: Wake,
): Promise<boolean> {
  const { rows } = await sql<{ is_retiring: boolean }>`with woken as (
      update servers set last_wake_at =
        case when ${startsCooldown} and retire_requested_at is null then now() else last_wake_at end
      where name = ${name} returning retire_requested_at is not null as is_retiring
    ), settled as (delete from server_changes where id = ${change ?? null} returning entry),
    published as (
      insert into outbox (subject, body) select ${auditSubject("lifecycle")}, entry::text from settled
      where not exists (select 1 from woken where is_retiring)
    )
    select is_retiring from woken`.execute(db);
  return rows[0]?.is_retiring === true;
}

function remainingCooldown(cooldownMs: number) {
  return sql<number | null>`extract(epoch from last_wake_at - now()) * 1000 + ${cooldownMs}::float8`;
}

async function adopt({ db }: LifecycleStore, adoption: Adoption): Promise<void> {
  const { name, subdomain, offered, order, creator } = adoption;
  const created = { name, subdomain, at: new Date().toISOString() };
  const event = outboxRow(contracts.serverCreated, created);
  const claimed = creator && { name, user_id: creator.id, at: created.at };
  const owned = creator && {
    ...{ ...ownedBy(creator.id), created_by: creator.id },
    ...costColumns(creator.costs),
  };
  await db.transaction().execute(async (trx) => {
    if (creator) await lockAccounts(trx, creator.id);
    const made = await trx
      .insertInto("servers")
      .values({ name, offered, ...owned })
      .onConflict((conflict) =>
        conflict
          .column("name")
          .doUpdateSet({ ...resetColumns, offered, ...owned })
          .where("servers.deleted_at", "is not", null),
      )
      .returning("name")
      .executeTakeFirst();
    if (!made) return;
    const alias = trx.insertInto("server_aliases").values({ subdomain, server_name: name });
    await alias.onConflict((conflict) => conflict.doNothing()).execute();
    await trx
      .insertInto("outbox")
      .values([
        event,
        ...(claimed ? [outboxRow(ownership.serverClaimed, claimed)] : []),
        ...ordered(name, order),
      ])
      .execute();
  });
}

async function recordJoin(
  { db }: LifecycleStore,
  name: string,
  { uuid, name: player_name, at }: PlayerMove,
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
      .values({ server_name: name, mc_uuid: uuid, added_at: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    if (player_name !== undefined) await rememberName(trx, { uuid, name: player_name, at });
    const event = { name, mc_uuid: uuid, player_name, at: at.toISOString() };
    await trx.insertInto("outbox").values(outboxRow(players.playerJoined, event)).execute();
  });
}
