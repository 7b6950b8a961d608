// Expiry of backups by the daily run with concurrent users of the same backups, on a real PostgreSQL.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { findBackup } from "../backup/store.ts";
import type { BackupRow, StorageDb, StorageTrx, Tables } from "../database/tables.ts";
import { insertJob } from "../job/store.ts";
import { confirmCopies } from "../offsite/store.ts";
import { createStorageDatabase } from "../testing/fixture.ts";
import { evictCopied, evictManual, findEvictable, takeForDeletion } from "./store.ts";

const day = 86_400_000;
const now = new Date();

describe("expiry of backups by the daily run", () => {
  let database: Awaited<ReturnType<typeof createStorageDatabase>>;
  let store: ReturnType<typeof database.open<Tables>>;
  let db: StorageDb;
  before(async () => {
    database = await createStorageDatabase();
    store = database.open<Tables>();
    db = store.db;
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    await database.admin("truncate storage.world_jobs, storage.world_backups cascade");
    await database.admin("delete from storage.offsite_confirmations");
    await confirmCopies(db, now);
  });

  const add = async (id: string, about: Partial<BackupRow> = {}) => {
    await db
      .insertInto("world_backups")
      .values({
        id,
        server_name: "survival",
        former_owner: "usr-1",
        backup_ref: `/archive/survival-${id}.tar.zst`,
        size_bytes: 10,
        reason: "manual",
        created_at: new Date(now.getTime() - day),
        expires_at: new Date(now.getTime() + day),
        sha256: "0".repeat(64),
        ...about,
      })
      .execute();
  };
  const statusOf = async (id: string) =>
    (await db.selectFrom("world_backups").select("status").where("id", "=", id).executeTakeFirst())?.status;
  const restoreOf = (trx: StorageTrx, backup_id: string) =>
    insertJob(trx, {
      job: `restore-${backup_id}`,
      server_name: "survival",
      kind: "restore",
      started_by: "test",
      backup_id,
    });
  const isWaiting = async () => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return (rows[0]?.n ?? 0) > 0;
  };

  const givingUp: [fact: string, about: Partial<BackupRow>, act: (id: string) => Promise<boolean>][] = [
    ["past its retention", { expires_at: now }, (id) => takeForDeletion(db, id, now)],
    ["expired before", { status: "expired" }, (id) => takeForDeletion(db, id, now)],
    ["to make room, a manual backup", {}, (id) => evictManual(db, id, now)],
    [
      "to make room, a backup with an off-site copy",
      { reason: "inactive_15d", offsite_at: now },
      (id) => evictCopied(db, id, now),
    ],
  ];
  for (const [fact, about, act] of givingUp) {
    test(`a backup is kept for a restore that starts concurrently: ${fact}`, async () => {
      await add("bk-1", about);
      let going: Promise<boolean> | undefined;
      await db.transaction().execute(async (trx) => {
        if (about.status === undefined)
          assert.ok(await findBackup(trx, { scope: { kind: "all" }, id: "bk-1", lock: true }));
        else await sql`select 1 from world_backups where id = 'bk-1' for update`.execute(trx);
        going = act("bk-1");
        while (!(await isWaiting()));
        await restoreOf(trx, "bk-1");
      });
      assert.equal(await going, false);
      assert.equal(await statusOf("bk-1"), about.status ?? "present");
    });

    test(`a pinned backup is kept: ${fact}`, async () => {
      await add("bk-1", { ...about, pinned_at: now });
      assert.equal(await act("bk-1"), false);
      assert.equal(await statusOf("bk-1"), about.status ?? "present");
    });

    test(`an unused backup expires: ${fact}`, async () => {
      await add("bk-1", about);
      assert.equal(await act("bk-1"), true);
      assert.equal(await statusOf("bk-1"), "expired");
    });
  }

  test("an archive whose off-site copy nobody has seen lately is not evicted for it", async () => {
    await add("bk-1", { reason: "inactive_15d", offsite_at: now });
    const confirmedSince = new Date(now.getTime() + 1);
    const { candidates } = await findEvictable(db, { live: new Map(), confirmedSince });
    assert.deepEqual(
      candidates.map(({ hasCopy }) => hasCopy),
      [false],
    );
    assert.equal(await evictCopied(db, "bk-1", confirmedSince), false);
    assert.equal(await statusOf("bk-1"), "present");
  });

  const owned = (owner: string | undefined) => new Map([["survival", owner]]);
  const lastOf = async (live: ReadonlyMap<string, string | undefined>) =>
    (await findEvictable(db, { live, confirmedSince: now })).candidates
      .filter(({ isLast }) => isLast)
      .map(({ id }) => id);

  test("the last backup of a world is an only copy while its server is gone", async () => {
    await add("bk-old", { created_at: new Date(now.getTime() - 2 * day) });
    await add("bk-new");
    assert.deepEqual(await lastOf(new Map()), ["bk-new"]);
    assert.deepEqual(await lastOf(owned("usr-1")), []);
  });

  test("another owner's server of the same name does not count as a copy of the earlier world", async () => {
    await add("bk-first", { created_at: new Date(now.getTime() - 2 * day) });
    await add("bk-second", { former_owner: "usr-2" });
    assert.deepEqual(await lastOf(owned("usr-2")), ["bk-first"]);
    assert.deepEqual(await lastOf(owned(undefined)), ["bk-first", "bk-second"]);
  });
});
