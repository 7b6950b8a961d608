// What the daily run gives up, beside those who use it at that very moment: on a real PostgreSQL.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { findBackup } from "../backup/store.ts";
import type { BackupRow, StorageDb, StorageTrx, Tables } from "../database/tables.ts";
import { insertJob } from "../job/store.ts";
import { createStorageDatabase } from "../testing/fixture.ts";
import { evictCopied, evictManual, findEvictable, takeForDeletion } from "./store.ts";

const day = 86_400_000;
const now = new Date();

describe("what the daily run gives up", () => {
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
  beforeEach(() => database.admin("truncate storage.world_jobs, storage.world_backups cascade"));

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
    ["over its time", { expires_at: now }, (id) => takeForDeletion(db, id, now)],
    ["given up before", { status: "expired" }, (id) => takeForDeletion(db, id, now)],
    ["to make room, a manual one", {}, (id) => evictManual(db, id, now)],
    [
      "to make room, one with a copy",
      { reason: "inactive_15d", offsite_at: now },
      (id) => evictCopied(db, id),
    ],
  ];
  for (const [fact, about, act] of givingUp) {
    test(`a backup is kept for a restore that begins at the same moment: ${fact}`, async () => {
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

    test(`a backup that nobody needs goes: ${fact}`, async () => {
      await add("bk-1", about);
      assert.equal(await act("bk-1"), true);
      assert.equal(await statusOf("bk-1"), "expired");
    });
  }

  const owned = (owner: string | undefined) => new Map([["survival", owner]]);
  const lastOf = async (live: ReadonlyMap<string, string | undefined>) =>
    (await findEvictable(db, live)).candidates.filter(({ isLast }) => isLast).map(({ id }) => id);

  test("the last backup of a world is an only copy while its server is gone", async () => {
    await add("bk-old", { created_at: new Date(now.getTime() - 2 * day) });
    await add("bk-new");
    assert.deepEqual(await lastOf(new Map()), ["bk-new"]);
    assert.deepEqual(await lastOf(owned("usr-1")), []);
  });

  test("a server of the same name that is somebody else's is no copy of the world of before", async () => {
    await add("bk-first", { created_at: new Date(now.getTime() - 2 * day) });
    await add("bk-second", { former_owner: "usr-2" });
    assert.deepEqual(await lastOf(owned("usr-2")), ["bk-first"]);
    assert.deepEqual(await lastOf(owned(undefined)), ["bk-first", "bk-second"]);
  });
});
