import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { staff, until } from "@svc/mesh/testing";
import { backups } from "@svc/proto";
import { openStage, type Stage } from "../testing/stage.ts";

describe("restore points that nobody asked for", () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
  });
  after(() => stage?.close());

  const pageOf = (server?: string) => ({ limit: 50, offset: 0, ...(server !== undefined && { server }) });
  const scheduled = async () => {
    const { backups: rows } = await stage.external.call(backups.list, pageOf(), staff);
    return rows.filter(({ reason }) => reason === "scheduled").map(({ server_name }) => server_name);
  };
  const often = ["storage.auto_backup_interval=50ms", "archive.scheduled_every=1d"];

  test("every owned world at rest gets one, one after the other, and those without a volume keep nobody back", async () => {
    await stage.addServer("aaa", "usr-1");
    await stage.addServer("bbb", "usr-2");
    await stage.addServer("nobodys", undefined);
    stage.lifecycle.owners.set("ghost", "usr-1");
    const replica = await stage.start(often);
    await until(async () => (await scheduled()).length === 2, 30_000);
    assert.deepEqual((await scheduled()).sort(), ["aaa", "bbb"]);
    const jobs = await stage.database.admin(
      "select started_at, finished_at from storage.world_jobs where reason = 'scheduled' order by started_at",
    );
    const [first, second] = jobs as { started_at: Date; finished_at: Date }[];
    assert.ok(first && second && second.started_at >= first.finished_at);
    await until(() => stage.audits.filter(({ action }) => action === "backup.scheduled").length === 2);
    assert.ok(stage.audits.every(({ actor }) => actor === "scheduler"));
    await replica.stop();
  });

  test("the next one comes only when somebody joined and the interval has passed", async () => {
    stage.lifecycle.lastActive.set("aaa", new Date(Date.now() + 1_000));
    const replica = await stage.start(often, { now: () => Date.now() + 25 * 3_600_000 });
    await until(async () => (await scheduled()).length === 3, 30_000);
    assert.deepEqual((await scheduled()).sort(), ["aaa", "aaa", "bbb"]);
    await replica.stop();
  });

  test("a full store pauses them, and room lets them go on", async () => {
    await stage.addServer("ccc", "usr-1");
    const full = await stage.start([...often, `archive.max_local_bytes="1"`]);
    await until(async () => /svc_scheduled_backups_paused(\{[^}]*\})? 1/.test(await full.registry.metrics()));
    assert.equal((await scheduled()).includes("ccc"), false);
    await full.stop();
    const roomy = await stage.start(often);
    await until(async () => (await scheduled()).includes("ccc"), 30_000);
    await roomy.stop();
  });
});
