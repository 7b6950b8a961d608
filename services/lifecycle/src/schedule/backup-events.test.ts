// Failed backups as storage tells of them, over a real NATS that goes away.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { until } from "@svc/mesh/testing";
import { backups } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { minute, openScheduleFixture, type ScheduleFixture } from "../testing/schedule/schedule-fixture.ts";
import { followBackups } from "./backup-events.ts";

let fixture: ScheduleFixture;
let id: number;
let replica: Mesh;
before(async () => {
  fixture = await openScheduleFixture();
  await fixture.makeServer("survival");
  const action = { action: "command", command: "say No backup!" } as const;
  id = await fixture.addTask("survival", { ...action, trigger: "backup_failed", pause_minutes: 1 });
  replica = await fixture.base.nats.connect("lifecycle");
  await followBackups(replica, fixture.deps.triggers);
});
after(async () => {
  await replica.drain(500);
  await fixture.close();
});

const noted = async () => {
  const text =
    "select event, outcome from lifecycle.trigger_events where schedule_id = $1 order by happened_at";
  const rows = await fixture.base.database.admin(text, [id]);
  return rows.map(({ event, outcome }) => `${event} ${outcome}`);
};
const failed = (job: string, message: string, { at = fixture.clock.now, server = "survival" } = {}) => ({
  ...outboxRow(backups.backupFailed, { server_name: server, job, message, at: new Date(at).toISOString() }),
  id: message,
});
const publish = async (...events: ReturnType<typeof failed>[]) => {
  const storage = await fixture.base.nats.connect("storage");
  const outgoing = events.map(({ body, ...event }) => ({ ...event, body: Buffer.from(body) }));
  await storage.publish(outgoing).finally(() => storage.drain(500));
};
const drained = () =>
  until(async () => {
    const [stream] = (await operator()).filter(({ name }) => name === "STORAGE");
    const durable = stream?.consumers.find(({ name }) => name === "lifecycle-backups");
    return durable?.pending === 0 && durable.ack_pending === 0;
  });
const operator = async () => {
  const mesh = await fixture.base.nats.connect("operator");
  return mesh.streams().finally(() => mesh.drain(500));
};

test("one that storage tells of twice runs the task once", async () => {
  // The same Job, in messages that NATS takes for two.
  await publish(
    failed("job-1", "first"),
    failed("job-1", "again"),
    failed("job-x", "y", { server: "other" }),
  );
  await drained();
  assert.deepEqual(await noted(), ["backup-job-1 waiting"]);
  const [one, two] = [fixture.replica(), fixture.replica()];
  await Promise.all([one.tick(), two.tick(), one.tick(), two.tick()]);
  assert.deepEqual(await noted(), ["backup-job-1 ran"]);
  assert.deepEqual(fixture.commands, ["say No backup!"]);
  await publish(failed("job-1", "an hour later", { at: fixture.clock.now + 60 * minute }));
  await drained();
  assert.deepEqual(await noted(), ["backup-job-1 ran"]);
});

test("one before the task was saved is none of its", async () => {
  await publish(failed("job-0", "old", { at: fixture.clock.now - 60 * minute }));
  await drained();
  assert.deepEqual(await noted(), ["backup-job-1 ran"]);
});

test("one that arrives late because NATS was away is missed, and one in time runs the task", async () => {
  fixture.clock.now += 20 * minute;
  const at = fixture.clock.now;
  await fixture.base.nats.kill();
  fixture.clock.now += 15 * minute;
  await fixture.replica().tick();
  await fixture.base.nats.start();
  await publish(
    failed("job-2", "late", { at }),
    failed("job-3", "in time", { at: fixture.clock.now - minute }),
  );
  await until(async () => (await noted()).length === 3);
  await fixture.replica().tick();
  await fixture.replica().tick();
  assert.deepEqual((await noted()).slice(1), ["backup-job-2 missed", "backup-job-3 ran"]);
  assert.equal(fixture.commands.length, 2);
});
