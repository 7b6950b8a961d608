import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadSettings } from "@svc/config";
import type { Context } from "@svc/mesh";
import type { storageHealth } from "@svc/proto";
import { settings as schema } from "../config.ts";
import type { Tables } from "../database/tables.ts";
import { insertJob } from "../job/store.ts";
import { createStorageDatabase } from "../testing/fixture.ts";
import { readHealth } from "./read.ts";

const hour = 3_600_000;
const now = Date.now();
const ago = (hours: number) => new Date(now - hours * hour);

let database: Awaited<ReturnType<typeof createStorageDatabase>>;
let store: ReturnType<typeof database.open<Tables>>;
before(async () => {
  database = await createStorageDatabase();
  store = database.open<Tables>();
});
after(async () => {
  await store?.close();
  await database?.drop();
});

const read = () => {
  const { archive } = loadSettings(schema, { overrides: [] });
  const handler = readHealth({ db: store.db, now: () => now, settings: { archive } });
  return handler({} as Context<typeof storageHealth.readStorageHealth>, {});
};

test("tells failed and stuck Jobs of worlds, not exports, and how the reaper does", async () => {
  const nothing = { failed_jobs: [], stuck_jobs: [], reaper: {}, store_full: false };
  assert.deepEqual(await read(), nothing);
  const jobs = [
    { job: "backup-new", kind: "backup", state: "failed", finished_at: ago(1) },
    { job: "backup-old", kind: "backup", state: "failed", finished_at: ago(25) },
    { job: "export-new", kind: "export_world", state: "failed", finished_at: ago(1) },
    { job: "restore-long", kind: "restore", state: "running", started_at: ago(7) },
    { job: "restore-short", kind: "restore", state: "running", started_at: ago(5) },
  ] as const;
  for (const { job, kind, ...change } of jobs) {
    const server_name = job === "restore-long" ? "creative" : "survival";
    await store.db
      .transaction()
      .execute((trx) => insertJob(trx, { job, server_name, kind, started_by: "test" }));
    const set = { message: "no space", ...change };
    await store.db.updateTable("world_jobs").set(set).where("job", "=", job).execute();
  }
  const run = (id: string, state: string, started: Date, message = "") =>
    database.admin(
      `insert into storage.reaper_runs (id, state, started_by, retention_only, attempt, started_at, heartbeat_at, finished_at, message)
       values ($1, $2, 'test', false, 1, $3, $3, $3, $4)`,
      [id, state, started, message],
    );
  await run("00000000-0000-4000-8000-000000000001", "succeeded", ago(30));
  await run("00000000-0000-4000-8000-000000000002", "failed", ago(2), "no answer");
  assert.deepEqual(await read(), {
    failed_jobs: [
      {
        ...{ job: "backup-new", server: "survival", kind: "backup", message: "no space" },
        finished_at: ago(1).toISOString(),
      },
    ],
    stuck_jobs: [
      { job: "restore-long", server: "creative", kind: "restore", started_at: ago(7).toISOString() },
    ],
    reaper: {
      first_run_at: ago(30).toISOString(),
      last_success_at: ago(30).toISOString(),
      failed: { id: "00000000-0000-4000-8000-000000000002", message: "no answer" },
    },
    store_full: false,
  });
});
