import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { staff, until } from "@svc/mesh/testing";
import { backupKeeping, backups } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";

describe("scheduled restore points", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
  });
  after(() => fixture?.close());

  const pageOf = (server?: string) => ({ limit: 50, offset: 0, ...(server !== undefined && { server }) });
  const scheduled = async () => {
    const { backups: rows } = await fixture.external.call(backups.list, pageOf(), staff);
    return rows.filter(({ reason }) => reason === "scheduled").map(({ server_name }) => server_name);
  };
  const often = ["storage.auto_backup_interval=50ms", "archive.scheduled_every=1d"];

  test("every owned, stopped world gets one, one at a time, and servers without a volume delay no other", async () => {
    await fixture.addServer("aaa", "usr-1");
    await fixture.addServer("bbb", "usr-2");
    await fixture.addServer("nobodys", undefined);
    fixture.servers.owners.set("ghost", "usr-1");
    const replica = await fixture.start(often);
    await until(async () => (await scheduled()).length === 2, 30_000);
    assert.deepEqual((await scheduled()).sort(), ["aaa", "bbb"]);
    const jobs = await fixture.database.admin(
      "select started_at, finished_at from storage.world_jobs where reason = 'scheduled' order by started_at",
    );
    const [first, second] = jobs as { started_at: Date; finished_at: Date }[];
    assert.ok(first && second && second.started_at >= first.finished_at);
    await until(() => fixture.audits.filter(({ action }) => action === "backup.scheduled").length === 2);
    assert.ok(fixture.audits.every(({ actor }) => actor === "scheduler"));
    await replica.stop();
  });

  test("the next one is made only after a player has joined and the interval has passed", async () => {
    fixture.servers.lastActive.set("aaa", new Date(Date.now() + 1_000));
    const replica = await fixture.start(often, { now: () => Date.now() + 25 * 3_600_000 });
    await until(async () => (await scheduled()).length === 3, 30_000);
    assert.deepEqual((await scheduled()).sort(), ["aaa", "aaa", "bbb"]);
    await replica.stop();
  });

  test("a slow one frees the slot, and the queue shows which servers wait", async () => {
    fixture.pauseAt("backup");
    await fixture.addServer("slow", "usr-1");
    const clock = { aheadMs: 0 };
    const replica = await fixture.start(often, { now: () => Date.now() + clock.aheadMs });
    await until(() => fixture.pidAt("backup") !== undefined, 20_000);
    const pid = fixture.pidAt("backup") ?? 0;
    // Its Job is paused from here on, and no other Job is.
    process.kill(pid, "SIGSTOP");
    fixture.resumeAt("backup");
    await fixture.addServer("waits", "usr-1");
    const operator = await fixture.nats.connect("operator");
    try {
      const metric = async (name: string) =>
        Number(
          new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "m").exec(await replica.registry.metrics())?.[1],
        );
      await until(async () => (await metric("svc_scheduled_backups_waiting")) >= 1);
      const before = await operator.call(backupKeeping.readBackupQueue, {});
      assert.deepEqual(
        before.running.map(({ server, holds_slot }) => [server, holds_slot]),
        [["slow", true]],
      );
      assert.equal(before.state, "on");
      assert.deepEqual([before.waiting, before.waiting_total], [["waits"], 1]);
      await until(async () => (await metric("svc_scheduled_backups_slot_seconds")) > 0);
      assert.equal((await scheduled()).includes("waits"), false);
      // A quarter of the 30 minutes that it may take.
      clock.aheadMs = 8 * 60_000;
      await until(async () => (await scheduled()).includes("waits"), 30_000);
      const after = await operator.call(backupKeeping.readBackupQueue, {});
      assert.deepEqual(
        after.running.map(({ server, holds_slot }) => [server, holds_slot]),
        [["slow", false]],
      );
    } finally {
      process.kill(pid, "SIGCONT");
      await operator.drain(500);
    }
    await until(
      async () =>
        !(await fixture.external.call(backups.listJobs, { name: "slow" }, staff)).jobs.some(
          ({ state }) => state === "running",
        ),
      20_000,
    );
    await replica.stop();
  });

  test("a full store pauses them, and they resume once there is room", async () => {
    await fixture.addServer("ccc", "usr-1");
    const full = await fixture.start([...often, `archive.max_local_bytes="1"`]);
    await until(async () => /svc_scheduled_backups_paused(\{[^}]*\})? 1/.test(await full.registry.metrics()));
    assert.equal((await scheduled()).includes("ccc"), false);
    await full.stop();
    const roomy = await fixture.start(often);
    await until(async () => (await scheduled()).includes("ccc"), 30_000);
    await roomy.stop();
  });
});
