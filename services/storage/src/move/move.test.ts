import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { backups, migrations } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type Bed, openBed } from "../testing/move/fixture.ts";
import { namespace } from "../testing/worlds.ts";

describe("a move of a world", () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed("shipped");
    await bed.start();
  });
  after(() => bed?.close());

  const patch = (name: string, merge: unknown, subresource?: "status") =>
    bed.stage.kube.patch(lockedServers, { name, namespace }, { merge, ...(subresource && { subresource }) });

  test("takes every file to the other node, lets the server run there and keeps the old volume", async () => {
    await bed.addWorld("survival");
    const before = await bed.filesOf("world-survival-0");
    const begun = await bed.begin("survival");
    assert.deepEqual(
      [begun.state, begun.sourceNode, begun.targetNode, begun.sourcePVC, begun.attempt, begun.switched],
      ["backing_up", "local-1", "local-2", "world-survival-0", 1, false],
    );
    assert.match(begun.targetPVC, /^world-survival-m[0-9a-f]{12}$/);
    assert.match((await bed.lockOf("survival")) ?? "", /^migration@/);
    const done = await bed.reaches("survival", "succeeded", "failed");
    assert.equal(done.state, "succeeded", done.error);
    assert.equal(done.switched, true);
    assert.deepEqual(await bed.filesOf(done.targetPVC), before);
    assert.deepEqual(await bed.filesOf("world-survival-0"), before);
    assert.deepEqual(
      await bed.specOf("survival").then(({ nodeName, storage }) => [nodeName, storage?.claimName]),
      ["local-2", done.targetPVC],
    );
    assert.equal(await bed.lockOf("survival"), undefined);
    const { backups: rows } = await bed.stage.external.call(
      backups.list,
      { server: "survival", limit: 20, offset: 0 },
      staff,
    );
    assert.deepEqual(
      rows.map(({ reason, size_bytes }) => [reason, size_bytes]),
      [["pre_restore", done.backup.size]],
    );
    await until(() => bed.stage.audits.some(({ action }) => action === "world.migrated"));
  });

  test("can be made again, back to where the world came from", async () => {
    await bed.writeTo((await bed.read("survival")).targetPVC, { "level.dat": "played on" });
    const begun = await bed.begin("survival", "local-1");
    assert.equal(begun.sourceNode, "local-2");
    const done = await bed.reaches("survival", "succeeded", "failed");
    assert.equal(done.id, begun.id);
    assert.equal(done.state, "succeeded", done.error);
    assert.equal((await bed.filesOf(done.targetPVC))["level.dat"], "played on");
    assert.equal((await bed.filesOf("world-survival-0"))["level.dat"], "survival");
    assert.equal(
      (await bed.stage.external.call(migrations.read, { name: "survival", id: begun.id }, staff)).id,
      begun.id,
    );
  });

  test("each refusal has its code", async () => {
    await bed.addWorld("fixed");
    const refusal = (target?: string, name = "fixed") => faultOf(bed.begin(name, target));
    assert.equal(await refusal("local-2", "lobby"), "bad_name");
    assert.equal(await refusal("local-2", "nobody-here"), "not_found");
    assert.equal(await refusal("local-9"), "bad_node");
    assert.equal(await refusal("local-1"), "bad_node");
    const node = (merge: unknown, subresource?: "status") =>
      bed.stage.kube.patch(
        resources.nodes,
        { name: "local-2" },
        { merge, ...(subresource && { subresource }) },
      );
    await node({ spec: { unschedulable: true } });
    assert.equal(await refusal(), "bad_node");
    await node({ spec: { unschedulable: null } });
    bed.stage.lifecycle.told.set("fixed", { reaper_exempt: true });
    assert.equal(await refusal(), "system_server");
    bed.stage.lifecycle.told.delete("fixed");
    await patch("fixed", { status: { phase: "Running" } }, "status");
    assert.equal(await refusal(), "not_stopped");
    await patch("fixed", { status: { phase: "Stopped" } }, "status");
    await bed.setLock("fixed", `backup@${new Date().toISOString()}`);
    assert.equal(await refusal(), "maintenance_in_progress");
    await bed.setLock("fixed", `reap@${new Date().toISOString()}`);
    assert.equal(await refusal(), "world_reclaiming");
    await bed.setLock("fixed", null);
    await bed.stage.addServer("shared", "usr-1");
    assert.equal(await refusal("local-2", "shared"), "no_world_volume");
    bed.stage.lifecycle.told.set("fixed", { volume_claim: "world-nothing-0" });
    assert.equal(await refusal(), "no_world_volume");
    bed.stage.lifecycle.told.delete("fixed");
    bed.stage.lifecycle.isAway = true;
    assert.equal(await refusal(), "unavailable");
    bed.stage.lifecycle.isAway = false;
    assert.equal(await faultOf(bed.read("fixed")), "not_found");
    assert.equal(await bed.lockOf("fixed"), undefined);
    const id = "0".repeat(32);
    assert.equal(await faultOf(bed.retry("fixed", id)), "not_found");
    assert.equal(
      await faultOf(bed.retry("survival", (await bed.read("survival")).id)),
      "migration_not_failed",
    );
  });

  test("a server that is started all the same stops its move, and the world stays where it was", async () => {
    await bed.addWorld("awake");
    bed.stage.lifecycle.onDescribe = (name) =>
      name === "awake" ? void bed.stage.lifecycle.told.set("awake", { stopped: false }) : undefined;
    assert.equal(await faultOf(bed.begin("awake")), "not_stopped");
    let looks = 0;
    bed.stage.lifecycle.told.delete("awake");
    bed.stage.lifecycle.onDescribe = (name) => {
      if (name === "awake" && ++looks > 1) bed.stage.lifecycle.told.set("awake", { stopped: false });
    };
    await bed.begin("awake");
    const failed = await bed.reaches("awake", "failed", "succeeded");
    bed.stage.lifecycle.onDescribe = undefined;
    bed.stage.lifecycle.told.delete("awake");
    assert.deepEqual(
      [failed.state, failed.stage, failed.error],
      ["failed", "backing_up", "the server was started"],
    );
    assert.match((await bed.lockOf("awake")) ?? "", /^migration@/);
    assert.equal((await bed.begin("awake")).id, failed.id, "the same target answers the same move");
    assert.equal(await faultOf(bed.begin("awake", "local-9")), "maintenance_in_progress");
  });

  test("a move whose lock was taken away by hand is not gone on with; another may begin", async () => {
    const { id } = await bed.read("awake");
    await bed.setLock("awake", null);
    assert.equal(await faultOf(bed.retry("awake", id)), "migration_not_failed");
    const next = await bed.begin("awake");
    assert.notEqual(next.id, id);
    const done = await bed.reaches("awake", "succeeded", "failed");
    assert.equal(done.state, "succeeded", done.error);
    assert.equal((await bed.filesOf(done.targetPVC))["level.dat"], "awake");
  });

  test("two at once are one", async () => {
    await bed.addWorld("twice");
    const both = await Promise.allSettled([bed.begin("twice"), bed.begin("twice")]);
    const ids = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
    assert.ok(ids.length >= 1 && new Set(ids).size === 1);
    assert.equal((await bed.reaches("twice", "succeeded", "failed")).state, "succeeded");
    assert.equal(
      (await bed.stage.database.admin("select 1 from storage.world_migrations where server_name = 'twice'"))
        .length,
      1,
    );
  });
});
