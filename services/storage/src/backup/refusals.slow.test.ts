import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, ops, staff, until } from "@svc/mesh/testing";
import { backups } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { addServerObject, namespace } from "../testing/worlds.ts";

describe("why a backup or a restore is rejected", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
  });
  after(() => fixture?.close());

  const owner = account("usr-1");
  const create = (name: string, as = owner) => fixture.external.call(backups.create, { name }, as);
  const restore = (name: string, input: { backup_id?: string } = {}, as = owner) =>
    fixture.external.call(backups.restore, { name, safety_snapshot: true, ...input }, as);
  const settled = async (name: string) => {
    const look = async () => (await fixture.external.call(backups.listJobs, { name }, staff)).jobs;
    await until(
      async () => !(await look()).some((job) => job.state === "running" || job.then_restore === "pending"),
      20_000,
    );
  };
  const ids = async (server: string) => {
    const page = { server, limit: 20, offset: 0 };
    return (await fixture.external.call(backups.list, page, staff)).backups.map(({ id }) => id);
  };
  const lockOf = async (name: string) => {
    const server = await fixture.kube.get(lockedServers, { name, namespace });
    return server.metadata.annotations?.["svc.internal/maintenance"];
  };

  test("a full store rejects owners and schedules, not staff, the host or a safety snapshot", async () => {
    await fixture.addServer("full", "usr-1");
    const replica = await fixture.start([`archive.max_local_bytes="1"`, "archive.manual_cooldown=0s"]);
    const lifecycle = await fixture.nats.connect("lifecycle");
    try {
      assert.equal(await faultOf(create("full")), "none");
      await settled("full");
      assert.equal(await faultOf(create("full")), "backup_store_full");
      const run = { name: "full", run_key: "1-1", created_by: "owner" };
      assert.equal(await faultOf(lifecycle.call(backups.startScheduledBackup, run)), "backup_store_full");
      assert.equal(await faultOf(create("full", staff)), "none");
      await settled("full");
      assert.equal(
        await faultOf(fixture.internal.call(backups.createEmergency, { name: "full" }, ops)),
        "none",
      );
      await settled("full");
      assert.equal(await faultOf(restore("full")), "none");
      await settled("full");
      assert.equal(await lockOf("full"), undefined);
    } finally {
      await lifecycle.drain(500);
      await replica.stop();
    }
  });

  test("a server that was never started cannot be backed up", async () => {
    const replica = await fixture.start();
    await addServerObject(fixture.kube, "fresh");
    fixture.servers.owners.set("fresh", "usr-1");
    assert.equal(await faultOf(create("fresh")), "no_world_volume");
    await fixture.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "world-fresh-0", namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    assert.equal(await faultOf(create("fresh")), "no_world_volume");
    assert.equal(await lockOf("fresh"), undefined);
    await replica.stop();
  });

  test("a second restore of the same server is rejected, and so is a scheduled task", async () => {
    const replica = await fixture.start(["archive.manual_cooldown=0s"]);
    const lifecycle = await fixture.nats.connect("lifecycle");
    try {
      await fixture.addServer("busy", "usr-1");
      for (let round = 0; round < 2; round++) {
        await create("busy");
        await settled("busy");
      }
      const [newer, older] = await ids("busy");
      fixture.pauseAt("backup");
      await restore("busy", { backup_id: newer ?? "" });
      assert.equal(await faultOf(restore("busy", { backup_id: older ?? "" })), "restore_in_progress");
      const run = { name: "busy", run_key: "2-1", created_by: "owner" };
      assert.equal(await faultOf(lifecycle.call(backups.startScheduledBackup, run)), "restore_in_progress");
      fixture.resumeAt("backup");
      await settled("busy");
    } finally {
      await lifecycle.drain(500);
      await replica.stop();
    }
  });

  test("without an image for the agent nothing starts, and the response is 503", async () => {
    const replica = await fixture.start(["storage.agent_image="]);
    await fixture.addServer("bare", "usr-1");
    assert.equal(await faultOf(create("bare")), "unavailable");
    await replica.stop();
  });

  test("a dependency that is down gives 503, and the world stays unlocked", async () => {
    const replica = await fixture.start();
    await fixture.addServer("calm", "usr-1");
    fixture.servers.isDown = true;
    assert.equal(await faultOf(create("calm")), "unavailable");
    fixture.servers.isDown = false;
    await fixture.wire.cut();
    assert.equal(await faultOf(create("calm")), "unavailable");
    assert.equal(await lockOf("calm"), undefined);
    await fixture.wire.recover();
    await until(async () => (await faultOf(create("calm", staff))) === "none", 20_000);
    await settled("calm");
    assert.equal((await ids("calm")).length, 1);
    await replica.stop();
  });

  test("a server that changes hands before the lock is taken is not backed up for its former owner", async () => {
    const replica = await fixture.start();
    await fixture.addServer("sold", "usr-1");
    let looks = 0;
    fixture.servers.onDescribe = () => {
      looks += 1;
      if (looks === 2) fixture.servers.owners.set("sold", "usr-2");
    };
    assert.equal(await faultOf(create("sold")), "forbidden");
    fixture.servers.onDescribe = undefined;
    assert.equal(await lockOf("sold"), undefined);
    assert.deepEqual(await ids("sold"), []);
    await replica.stop();
  });
});
