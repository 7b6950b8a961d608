import { after, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import { type Fixture, openFixture } from "../testing/fixture.ts";

const triggers = {
  world_jobs: "world_jobs_work",
  world_migrations: "world_migrations_work",
  drills: "drills_work",
  file_changes: "file_changes_work",
  origins: "origins_work",
};

describe("a row written while the loops are idle", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture({ agent: "shipped" });
    await fixture.database.admin(
      `insert into storage.world_backups (id, server_name, backup_ref, size_bytes, reason, expires_at, sha256)
       values ('bk-1', 'survival', '/archive/survival-1.tar.zst', 1, 'manual', now() + interval '1 day', repeat('0', 64))`,
    );
  });
  after(() => fixture?.close());

  /** One row of each kind that has expired, so that one pass of its loop ends it. */
  const addWork = async (id: string) => {
    const longAgo = "now() - interval '1 day'";
    const entry = {
      id,
      at: new Date().toISOString(),
      actor: "test",
      action: "file.write",
      source: "storage",
    };
    const move =
      "'backing_up', 'backing_up', 'local-1', 'local-2', 'world-a-0', 'uid', 'world-a-1', 'migration@x'";
    for (const statement of [
      `insert into storage.world_jobs (job, server_name, kind, started_by, archive, started_at)
       values ('backup-${id}', '${id}', 'backup', 'test', '${id}.tar.zst', ${longAgo})`,
      `insert into storage.world_migrations (id, server_name, state, stage, source_node, target_node, source_claim,
         source_claim_uid, target_claim, lock, started_by, started_at, updated_at)
       values ('${id}', '${id}', ${move}, 'test', ${longAgo}, ${longAgo})`,
      `insert into storage.drills (id, server_name, backup_id, started_at) values ('${id}', 'survival', 'bk-1', ${longAgo})`,
      `insert into storage.file_changes (job, server_name, entry, started_at)
       values ('files-${id}', '${id}', '${JSON.stringify(entry)}', ${longAgo})`,
    ]) {
      await fixture.database.admin(statement);
    }
  };

  const isDone = async () => {
    const { db } = fixture;
    const open = await Promise.all([
      db.selectFrom("world_jobs").select("job").where("state", "in", ["starting", "running"]).execute(),
      db.selectFrom("world_migrations").select("id").execute(),
      db.selectFrom("drills").select("id").where("finished_at", "is", null).execute(),
      db.selectFrom("file_changes").select("job").execute(),
    ]);
    return open.flat().length === 0;
  };

  /** Several times: the first row may be found by the pass that follows the end of the previous one. */
  const takesUpWork = async (name: string) => {
    for (const round of [1, 2, 3]) {
      await addWork(`${name}-${round}`);
      await until(isDone);
    }
  };

  test("is processed at once, however long the pause of the loops", async () => {
    const replica = await fixture.start(["storage.idle_interval=1h"]);
    await takesUpWork("woken");
    await replica.stop();
  });

  test("is found by the next poll when the notification was lost", async () => {
    for (const [table, trigger] of Object.entries(triggers)) {
      await fixture.database.admin(`alter table storage.${table} disable trigger ${trigger}`);
    }
    const replica = await fixture.start(["storage.idle_interval=200ms"]);
    await takesUpWork("polled");
    await replica.stop();
  });
});
