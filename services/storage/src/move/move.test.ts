import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { backups, migrations } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type MoveFixture, openMoveFixture } from "../testing/move/fixture.ts";
import { namespace } from "../testing/worlds.ts";

describe("a move of a world", () => {
  let fixture: MoveFixture;
  before(async () => {
    fixture = await openMoveFixture("shipped");
    await fixture.start();
  });
  after(() => fixture?.close());

  const patch = (name: string, merge: unknown, subresource?: "status") =>
    fixture.base.kube.patch(
      lockedServers,
      { name, namespace },
      { merge, ...(subresource && { subresource }) },
    );

  test("copies every file to the other node, lets the server run there and keeps the old volume", async () => {
    await fixture.addWorld("survival");
    const before = await fixture.filesOf("world-survival-0");
    const begun = await fixture.begin("survival");
    assert.deepEqual(
      [begun.state, begun.sourceNode, begun.targetNode, begun.sourcePVC, begun.attempt, begun.switched],
      ["backing_up", "local-1", "local-2", "world-survival-0", 1, false],
    );
    assert.match(begun.targetPVC, /^world-survival-m[0-9a-f]{12}$/);
    assert.match((await fixture.lockOf("survival")) ?? "", /^migration@/);
    const done = await fixture.reaches("survival", "succeeded", "failed");
    assert.equal(done.state, "succeeded", done.error);
    assert.equal(done.switched, true);
    assert.deepEqual(await fixture.filesOf(done.targetPVC), before);
    assert.deepEqual(await fixture.filesOf("world-survival-0"), before);
    assert.deepEqual(
      await fixture.specOf("survival").then(({ nodeName, storage }) => [nodeName, storage?.claimName]),
      ["local-2", done.targetPVC],
    );
    assert.equal(await fixture.lockOf("survival"), undefined);
    const { backups: rows } = await fixture.base.external.call(
      backups.list,
      { server: "survival", limit: 20, offset: 0 },
      staff,
    );
    assert.deepEqual(
      rows.map(({ reason, size_bytes }) => [reason, size_bytes]),
      [["pre_restore", done.backup.size]],
    );
    await until(() => fixture.base.audits.some(({ action }) => action === "world.migrated"));
  });

  test("can be reversed by another move", async () => {
    await fixture.writeTo((await fixture.read("survival")).targetPVC, { "level.dat": "played on" });
    const begun = await fixture.begin("survival", "local-1");
    assert.equal(begun.sourceNode, "local-2");
    const done = await fixture.reaches("survival", "succeeded", "failed");
    assert.equal(done.id, begun.id);
    assert.equal(done.state, "succeeded", done.error);
    assert.equal((await fixture.filesOf(done.targetPVC))["level.dat"], "played on");
    assert.equal((await fixture.filesOf("world-survival-0"))["level.dat"], "survival");
    const { migrations: listed } = await fixture.base.external.call(migrations.list, {}, staff);
    assert.deepEqual(listed[0], done, "the latest first");
    assert.deepEqual(new Set(listed.map(({ server }) => server)), new Set(["survival"]));
    assert.equal(
      (await fixture.base.external.call(migrations.read, { name: "survival", id: begun.id }, staff)).id,
      begun.id,
    );
  });

  test("leaves a node that is cordoned", async () => {
    await fixture.addWorld("leaver");
    const cordon = (unschedulable: boolean) =>
      fixture.base.kube.patch(resources.nodes, { name: "local-1" }, { merge: { spec: { unschedulable } } });
    await cordon(true);
    try {
      await fixture.begin("leaver");
      const done = await fixture.reaches("leaver", "succeeded", "failed");
      assert.equal(done.state, "succeeded", done.error);
    } finally {
      await cordon(false);
    }
  });

  test("each rejection has its code", async () => {
    await fixture.addWorld("fixed");
    const refusal = (target?: string, name = "fixed") => faultOf(fixture.begin(name, target));
    assert.equal(await refusal("local-2", "lobby"), "bad_name");
    assert.equal(await refusal("local-2", "nobody-here"), "not_found");
    assert.equal(await refusal("local-9"), "bad_node");
    assert.equal(await refusal("local-1"), "bad_node");
    const node = (merge: unknown, subresource?: "status") =>
      fixture.base.kube.patch(
        resources.nodes,
        { name: "local-2" },
        { merge, ...(subresource && { subresource }) },
      );
    await node({ spec: { unschedulable: true } });
    assert.equal(await refusal(), "bad_node");
    await node({ spec: { unschedulable: null } });
    fixture.base.servers.overrides.set("fixed", { reaper_exempt: true });
    assert.equal(await refusal(), "system_server");
    fixture.base.servers.overrides.delete("fixed");
    await patch("fixed", { status: { phase: "Running" } }, "status");
    assert.equal(await refusal(), "not_stopped");
    await patch("fixed", { status: { phase: "Stopped" } }, "status");
    await fixture.setLock("fixed", `backup@${new Date().toISOString()}`);
    assert.equal(await refusal(), "maintenance_in_progress");
    await fixture.setLock("fixed", `reap@${new Date().toISOString()}`);
    assert.equal(await refusal(), "world_reclaiming");
    await fixture.setLock("fixed", null);
    await fixture.base.addServer("shared", "usr-1");
    assert.equal(await refusal("local-2", "shared"), "no_world_volume");
    fixture.base.servers.overrides.set("fixed", { volume_claim: "world-nothing-0" });
    assert.equal(await refusal(), "no_world_volume");
    fixture.base.servers.overrides.delete("fixed");
    fixture.base.servers.isDown = true;
    assert.equal(await refusal(), "unavailable");
    fixture.base.servers.isDown = false;
    assert.equal(await faultOf(fixture.read("fixed")), "not_found");
    assert.equal(await fixture.lockOf("fixed"), undefined);
    const id = "0".repeat(32);
    assert.equal(await faultOf(fixture.retry("fixed", id)), "not_found");
    assert.equal(
      await faultOf(fixture.retry("survival", (await fixture.read("survival")).id)),
      "migration_not_failed",
    );
  });

  test("a start of the server fails its move, and the world stays where it was", async () => {
    await fixture.addWorld("awake");
    fixture.base.servers.onDescribe = (name) =>
      name === "awake" ? void fixture.base.servers.overrides.set("awake", { stopped: false }) : undefined;
    assert.equal(await faultOf(fixture.begin("awake")), "not_stopped");
    let looks = 0;
    fixture.base.servers.overrides.delete("awake");
    fixture.base.servers.onDescribe = (name) => {
      if (name === "awake" && ++looks > 1) fixture.base.servers.overrides.set("awake", { stopped: false });
    };
    await fixture.begin("awake");
    const failed = await fixture.reaches("awake", "failed", "succeeded");
    fixture.base.servers.onDescribe = undefined;
    fixture.base.servers.overrides.delete("awake");
    assert.deepEqual(
      [failed.state, failed.stage, failed.error],
      ["failed", "backing_up", "the server was started"],
    );
    assert.match((await fixture.lockOf("awake")) ?? "", /^migration@/);
    assert.equal(
      (await fixture.begin("awake")).id,
      failed.id,
      "a repeated request with the same target returns the same move",
    );
    assert.equal(await faultOf(fixture.begin("awake", "local-9")), "maintenance_in_progress");
  });

  test("a move whose lock was removed by hand fails; another may start", async () => {
    const { id } = await fixture.read("awake");
    await fixture.setLock("awake", null);
    assert.equal(await faultOf(fixture.retry("awake", id)), "migration_not_failed");
    const next = await fixture.begin("awake");
    assert.notEqual(next.id, id);
    const done = await fixture.reaches("awake", "succeeded", "failed");
    assert.equal(done.state, "succeeded", done.error);
    assert.equal((await fixture.filesOf(done.targetPVC))["level.dat"], "awake");
  });

  test("two concurrent requests start one move", async () => {
    await fixture.addWorld("twice");
    const both = await Promise.allSettled([fixture.begin("twice"), fixture.begin("twice")]);
    const ids = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    assert.ok(ids.length >= 1 && new Set(ids).size === 1);
    assert.equal((await fixture.reaches("twice", "succeeded", "failed")).state, "succeeded");
    assert.equal(
      (
        await fixture.base.database.admin(
          "select 1 from storage.world_migrations where server_name = 'twice'",
        )
      ).length,
      1,
    );
  });
});
