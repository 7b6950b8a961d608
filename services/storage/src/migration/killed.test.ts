// Storage and the agent die at every step of a move: it goes on, or fails with the world where it was and can be retried.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { lockedServers } from "@svc/world-lock";
import { killPoint } from "../testing/kill-points.ts";
import { namespace } from "../testing/worlds.ts";
import { type Bed, openBed } from "./testing/bed.ts";

const steps = ["backup", "backup-told", "restore", "restore-told"] as const;

async function reachesStep({ stage, read }: Bed, step: string, name: string): Promise<void> {
  await until(async () => {
    const { state, error } = await read(name);
    assert.notEqual(state, "failed", error);
    return stage.pidAt(step) !== undefined;
  }, 20_000);
}

describe("a move that is interrupted", () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed("held");
  });
  after(() => bed?.stage.close());

  for (const [number, step] of steps.entries()) {
    test(
      `is gone on with by another process when storage dies at "${step}"`,
      killPoint(number + 1, 2),
      async () => {
        const name = `storage-${step}`;
        await bed.addWorld(name);
        const world = await bed.filesOf(`world-${name}-0`);
        bed.stage.hold(step);
        const first = await bed.start();
        await bed.begin(name);
        await reachesStep(bed, step, name);
        await first.stop();
        assert.deepEqual(await bed.filesOf(`world-${name}-0`), world);
        assert.match((await bed.lockOf(name)) ?? "", /^migration@/);
        bed.stage.unhold(step);
        const second = await bed.start();
        const done = await bed.reaches(name, "succeeded", "failed");
        assert.deepEqual([done.state, done.attempt], ["succeeded", 1], done.error);
        assert.deepEqual(await bed.filesOf(done.targetPVC), world);
        await second.stop();
      },
    );

    test(
      `fails with the world where it was when its Job dies at "${step}", and a retry ends it`,
      killPoint(number, 2),
      async () => {
        const name = `agent-${step}`;
        await bed.addWorld(name);
        const world = await bed.filesOf(`world-${name}-0`);
        bed.stage.hold(step);
        const replica = await bed.start();
        const { id } = await bed.begin(name);
        await reachesStep(bed, step, name);
        process.kill(bed.stage.pidAt(step) ?? 0, "SIGKILL");
        const failed = await bed.reaches(name, "failed", "succeeded");
        bed.stage.unhold(step);
        const isBackup = step.startsWith("backup");
        assert.deepEqual([failed.state, failed.stage], ["failed", isBackup ? "backing_up" : "restoring"]);
        assert.ok((failed.error ?? "").length > 0);
        assert.deepEqual(await bed.filesOf(`world-${name}-0`), world);
        assert.match((await bed.lockOf(name)) ?? "", /^migration@/);
        assert.equal((await bed.specOf(name)).nodeName, undefined);
        const again = await bed.retry(name, id);
        assert.deepEqual([again.state, again.attempt, again.error], [failed.stage, 2, undefined]);
        const done = await bed.reaches(name, "succeeded", "failed");
        assert.equal(done.state, "succeeded", done.error);
        assert.deepEqual(await bed.filesOf(done.targetPVC), world);
        assert.equal(await bed.lockOf(name), undefined);
        await replica.stop();
      },
    );
  }

  test("ends when lifecycle switched the server over and the answer got lost", async () => {
    const name = "answer-lost";
    await bed.addWorld(name);
    bed.stage.hold("restore-told");
    const replica = await bed.start();
    await bed.begin(name);
    await reachesStep(bed, "restore-told", name);
    bed.stage.lifecycle.isAway = true;
    bed.stage.unhold("restore-told");
    await replica.stop();
    const { targetPVC } = await bed.read(name).catch(() => ({ targetPVC: "" }));
    assert.equal(targetPVC, "", "no replica answers");
    const [row] = await bed.stage.database.admin(
      "select target_claim from storage.world_migrations where server_name = $1",
      [name],
    );
    const merge = { spec: { nodeName: "local-2", storage: { claimName: row?.["target_claim"] } } };
    await bed.stage.database.admin(
      "update storage.world_migrations set state = 'switching', stage = 'switching' where server_name = $1",
      [name],
    );
    await bed.stage.kube.patch(lockedServers, { name, namespace }, { merge });
    await bed.setLock(name, null);
    bed.stage.lifecycle.isAway = false;
    const second = await bed.start();
    assert.equal((await bed.reaches(name, "succeeded", "failed")).state, "succeeded");
    await second.stop();
  });

  test("a begin that died before its lock leaves nothing, one that died after it goes on", async () => {
    await bed.addWorld("half-begun");
    const insert = (lock: string, at: Date) =>
      bed.stage.database.admin(
        `insert into storage.world_migrations (id, server_name, state, stage, source_node, target_node, source_claim,
           source_claim_uid, target_claim, lock, owner_id, started_by, started_at)
         select $1, 'half-begun', 'backing_up', 'backing_up', 'local-1', 'local-2', 'world-half-begun-0', $2,
           'world-half-begun-m1', $3, 'usr-1', 'test', $4`,
        [randomBytes(16).toString("hex"), uid, lock, at],
      );
    const uid = (await bed.stage.kube.get(resources.claims, { name: "world-half-begun-0", namespace }))
      .metadata.uid;
    await insert("migration@2026-01-01T00:00:00.000Z", new Date(Date.now() - 3_600_000));
    const replica = await bed.start();
    const count = async () =>
      (
        await bed.stage.database.admin(
          "select 1 from storage.world_migrations where server_name = 'half-begun'",
        )
      ).length;
    await until(async () => (await count()) === 0);
    const at = new Date();
    const lock = `migration@${at.toISOString()}`;
    await bed.setLock("half-begun", lock);
    await insert(lock, at);
    await until(() =>
      bed.read("half-begun").then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await bed.reaches("half-begun", "succeeded", "failed")).state, "succeeded");
    await replica.stop();
  });
});
