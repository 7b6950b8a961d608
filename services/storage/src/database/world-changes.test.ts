// Every change of a row of a world publishes an event, however it is made.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { worldChanges } from "@svc/proto";
import type { TestDatabase } from "@svc/store/testing";
import { createStorageDatabase } from "../testing/fixture.ts";

let database: TestDatabase;
before(async () => {
  database = await createStorageDatabase();
});
after(() => database?.drop());

const now = "now()";
const move = "'backing_up', 'backing_up', 'a', 'b', 'claim-a', 'uid', 'claim-b', 'migration@x', 'test'";
const entry = JSON.stringify({ id: "1", at: new Date(0).toISOString(), action: "file.write" });
const sha256 = "repeat('0', 64)";

const changes: readonly [what: string, statement: string, received: readonly string[]][] = [
  [
    "a job is written",
    "insert into storage.world_jobs (job, server_name, kind, started_by) values ('j-1', 'anvil', 'restore', 'test')",
    ["job anvil"],
  ],
  ["a job changes", "update storage.world_jobs set state = 'running'", ["job anvil"]],
  ["nothing changes", "update storage.world_jobs set state = 'failed' where job = 'none'", []],
  [
    "a file change begins",
    `insert into storage.file_changes (job, server_name, entry, started_at) values ('f-1', 'anvil', '${entry}', ${now})`,
    ["file anvil"],
  ],
  ["a file change ends", "delete from storage.file_changes", ["file anvil, ended"]],
  [
    "a move begins",
    `insert into storage.world_migrations (id, server_name, state, stage, source_node, target_node, source_claim,
       source_claim_uid, target_claim, lock, started_by, started_at, updated_at)
     values ('m-1', 'anvil', ${move}, ${now}, ${now})`,
    ["move anvil"],
  ],
  ["a move takes a step", "update storage.world_migrations set stage = 'restoring'", ["move anvil"]],
  [
    "several backups are inserted at once",
    `insert into storage.world_backups (id, server_name, backup_ref, size_bytes, reason, expires_at, sha256)
     select 'bk-' || n, case when n < 3 then 'anvil' else 'beacon' end, '/a/' || n, 1, 'manual', ${now}, ${sha256}
     from generate_series(1, 4) as n`,
    ["backup anvil", "backup beacon"],
  ],
  [
    "a backup is labelled",
    "update storage.world_backups set label = 'x' where id = 'bk-4'",
    ["backup beacon"],
  ],
  [
    "a drill begins",
    `insert into storage.drills (id, server_name, backup_id, started_at) values ('d-1', 'anvil', 'bk-1', ${now})`,
    ["drill anvil"],
  ],
  ["a drill ends", `update storage.drills set finished_at = ${now}`, ["drill anvil"]],
];

for (const [what, statement, received] of changes) {
  test(`when ${what}, ${received.length === 0 ? "no event is published" : "one event is published for each of those servers"}`, async () => {
    await database.admin("delete from storage.outbox");
    await database.admin(statement);
    const rows = (await database.admin("select subject, body from storage.outbox")) as {
      subject: string;
      body: string;
    }[];
    const events = rows.map(({ subject, body }) => {
      const { type, server_name, ended } = worldChanges.worldChanged.data.parse(JSON.parse(body));
      assert.equal(subject, `svc.evt.storage.world.changed.${server_name}`);
      return `${type} ${server_name}${ended === true ? ", ended" : ""}`;
    });
    assert.deepEqual(events.sort(), received);
  });
}
