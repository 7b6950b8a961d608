// The audit entry of a Job is published once, with the first proof that the Job exists, and never without one.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { auditRow, type Store } from "@svc/store";
import type { TestDatabase } from "@svc/store/testing";
import type { Tables } from "../database/tables.ts";
import { createStorageDatabase } from "../testing/fixture.ts";
import { finishJob, insertJob, markRunning, rejectJob, withdrawStart } from "./store.ts";

const job = "backup-survival-1";
const at = new Date(0);

describe("the audit entry of a Job", () => {
  let database: TestDatabase;
  let store: Store<Tables>;
  before(async () => {
    database = await createStorageDatabase();
    store = database.open<Tables>();
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  const { body } = auditRow("storage", {
    ...{ actor: "ada", source: "external", action: "backup.create" },
    ...{ server_name: "survival", payload: { job } },
  });
  beforeEach(async () => {
    await database.admin("truncate storage.world_jobs, storage.outbox");
    const about = { job, server_name: "survival", kind: "backup" as const, started_by: "ada" };
    await store.db.transaction().execute((trx) => insertJob(trx, { ...about, audit: body }));
  });
  const sent = async () =>
    (await database.admin("select body from storage.outbox where subject = 'svc.audit.storage'")).map(
      (row) => row["body"],
    );

  test("is held back while it is unknown whether the Job exists", async () => {
    assert.deepEqual(await sent(), []);
  });

  test("is published once when the Job runs, by whichever replica sees it", async () => {
    await Promise.all([markRunning(store.db, job), markRunning(store.db, job)]);
    await finishJob(store.db, job, { state: "succeeded", at });
    assert.deepEqual(await sent(), [body]);
  });

  test("is published with the end of a Job that was never seen running", async () => {
    assert.equal(await finishJob(store.db, job, { state: "failed", message: "killed", at }), true);
    assert.equal(await finishJob(store.db, job, { state: "failed", message: "again", at }), false);
    await markRunning(store.db, job);
    assert.deepEqual(await sent(), [body]);
    const rows = await database.admin("select state, message from storage.world_jobs");
    assert.deepEqual(rows, [{ state: "failed", message: "killed" }]);
  });

  test("is dropped with a Job that the cluster rejected", async () => {
    await rejectJob(store.db, job, { message: "no room", at });
    await markRunning(store.db, job);
    assert.deepEqual(await sent(), []);
  });

  test("is dropped with a Job that was never created", async () => {
    await withdrawStart(store.db, job);
    await finishJob(store.db, job, { state: "failed", message: "the job was never started", at });
    assert.deepEqual(await sent(), []);
  });
});
