// Any process dies or hangs at any step of a move: it continues, or fails with the world where it was and can be retried.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { after, before, describe, test } from "node:test";
import { killPoint } from "@svc/config/testing";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import type { migrations } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { createClusterProcess } from "../testing/cluster-process.ts";
import { type MoveFixture, openMoveFixture } from "../testing/move/fixture.ts";
import { hanging } from "../testing/outage.ts";
import type { StorageProcess } from "../testing/storage-process.ts";
import { namespace, readFiles } from "../testing/worlds.ts";

const steps = [
  "backup",
  "backup-midway",
  "backup-done",
  "restore",
  "restore-midway",
  "restore-done",
] as const;
type Step = (typeof steps)[number];

/** More than one chunk, and incompressible. */
const worldOf = (name: string) => ({
  "level.dat": name,
  "region/r.0.0.mca": randomBytes(400_000).toString("base64"),
  "region/r.0.1.mca": randomBytes(400_000).toString("base64"),
});

type Field = { fixture: MoveFixture; service: StorageProcess };
type Disaster = {
  name: string;
  inject: (field: Field, step: Step) => Promise<unknown>;
  recover: (field: Field) => Promise<void>;
  /** Steps at which the move cannot simply continue: its stream is cut, or its Job is dead. */
  fails: readonly Step[];
};

const cluster = createClusterProcess();

function hangs(name: string, pause: (field: Field) => () => void): Disaster {
  let outage = hanging(() => () => {});
  return {
    name: `${name} hangs`,
    inject: (field) => {
      outage = hanging(() => pause(field));
      return outage.inject();
    },
    recover: () => outage.recover(),
    fails: [],
  };
}

const disasters: readonly Disaster[] = [
  {
    name: "storage dies",
    inject: ({ service }) => service.kill(),
    recover: async (field) => {
      field.service = await field.fixture.startProcess();
    },
    fails: ["backup-midway"],
  },
  {
    name: "the Job dies",
    inject: async ({ fixture }, step) => process.kill(fixture.base.pidAt(step) ?? 0, "SIGKILL"),
    recover: async () => {},
    // With its receipt the archive is stored, whatever happens to its sender.
    fails: steps.filter((step) => step !== "backup-done"),
  },
  {
    name: "PostgreSQL dies",
    inject: ({ fixture }) => fixture.base.wire.cut(),
    recover: ({ fixture }) => fixture.base.wire.recover(),
    fails: [],
  },
  {
    name: "NATS dies",
    inject: ({ fixture }) => fixture.base.nats.kill(),
    recover: ({ fixture }) => fixture.base.nats.start(),
    fails: [],
  },
  { name: "the cluster dies", inject: () => cluster.kill(), recover: () => cluster.restart(), fails: [] },
  hangs("storage", ({ service }) => service.pause()),
  hangs("PostgreSQL", ({ fixture }) => fixture.base.wire.pause()),
  hangs("NATS", ({ fixture }) => fixture.base.nats.pause()),
  hangs("the cluster", () => cluster.pause()),
];

async function reachesStep(fixture: MoveFixture, step: string, name: string): Promise<void> {
  await until(async () => {
    const now = await fixture.read(name).catch(() => undefined);
    assert.notEqual(now?.state, "failed", now?.error);
    return fixture.base.pidAt(step) !== undefined;
  }, 60_000);
}

/** Every file in the archive folder belongs to a backup. */
async function assertNoStrays({ base }: MoveFixture): Promise<void> {
  const rows = await base.database.admin("select backup_ref from storage.world_backups");
  const known = new Set(rows.map((row) => basename(String(row["backup_ref"]))));
  const strays = readdirSync(base.archiveDir).filter((name) => !/^(at|hold)-/.test(name) && !known.has(name));
  assert.deepEqual(strays, []);
}

describe("an interrupted move", () => {
  let fixture: MoveFixture;
  before(async () => {
    fixture = await openMoveFixture("pausing", cluster.start);
  });
  after(() => fixture?.close());

  const ended = async (name: string): Promise<migrations.WorldMigration> => {
    let seen: migrations.WorldMigration | undefined;
    await until(async () => {
      seen = await fixture.read(name).catch(() => undefined);
      return seen?.state === "succeeded" || seen?.state === "failed";
    }, 60_000);
    return seen as migrations.WorldMigration;
  };

  describe("by a kill", () => {
    let field: Field;
    before(async () => {
      field = { fixture, service: await fixture.startProcess() };
    });
    after(() => field?.service.kill());

    const points = disasters.flatMap((disaster) => steps.map((step) => ({ disaster, step })));
    for (const [number, { disaster, step }] of points.entries()) {
      test(
        `${disaster.name} at "${step}": the world is complete, and arrives`,
        killPoint(number, 13),
        async () => {
          const name = `point-${number}`;
          await fixture.addWorld(name, worldOf(name));
          const path = await fixture.pathOf(`world-${name}-0`);
          const world = readFiles(path);
          fixture.base.pauseAt(step);
          const { id } = await fixture.begin(name);
          await reachesStep(fixture, step, name);
          await disaster.inject(field, step);
          assert.deepEqual(readFiles(path), world);
          fixture.base.resumeAt(step);
          await disaster.recover(field);
          let done = await ended(name);
          if (disaster.fails.includes(step)) assert.equal(done.state, "failed");
          if (done.state === "failed") {
            const stage = step.startsWith("backup") ? "backing_up" : "restoring";
            assert.deepEqual([done.stage, done.switched], [stage, false]);
            assert.ok((done.error ?? "").length > 0);
            assert.match((await fixture.lockOf(name)) ?? "", /^migration@/);
            assert.equal((await fixture.specOf(name)).nodeName, undefined);
            const again = await fixture.retry(name, id);
            assert.deepEqual([again.attempt, again.error], [2, undefined]);
            done = await ended(name);
          }
          assert.equal(done.state, "succeeded", done.error);
          assert.deepEqual(await fixture.filesOf(done.targetPVC), world);
          assert.deepEqual(await fixture.filesOf(`world-${name}-0`), world);
          assert.equal(await fixture.lockOf(name), undefined);
          await assertNoStrays(fixture);
        },
      );
    }
  });

  test("ends when lifecycle switched the server and the response was lost", async () => {
    const name = "answer-lost";
    await fixture.addWorld(name);
    fixture.base.pauseAt("restore-done");
    const replica = await fixture.start();
    await fixture.begin(name);
    await reachesStep(fixture, "restore-done", name);
    fixture.base.servers.isDown = true;
    fixture.base.resumeAt("restore-done");
    await replica.stop();
    const { targetPVC } = await fixture.read(name).catch(() => ({ targetPVC: "" }));
    assert.equal(targetPVC, "", "no replica answers");
    const [row] = await fixture.base.database.admin(
      "select target_claim from storage.world_migrations where server_name = $1",
      [name],
    );
    const merge = { spec: { nodeName: "local-2", storage: { claimName: row?.["target_claim"] } } };
    await fixture.base.database.admin(
      "update storage.world_migrations set state = 'switching', stage = 'switching' where server_name = $1",
      [name],
    );
    await fixture.base.kube.patch(lockedServers, { name, namespace }, { merge });
    await fixture.setLock(name, null);
    fixture.base.servers.isDown = false;
    const second = await fixture.start();
    assert.equal((await fixture.reaches(name, "succeeded", "failed")).state, "succeeded");
    await second.stop();
  });

  test("leaves nothing if it died before taking its lock, and continues if it died after", async () => {
    await fixture.addWorld("half-begun");
    const insert = (lock: string, at: Date) =>
      fixture.base.database.admin(
        `insert into storage.world_migrations (id, server_name, state, stage, source_node, target_node, source_claim,
           source_claim_uid, target_claim, lock, owner_id, started_by, started_at)
         select $1, 'half-begun', 'backing_up', 'backing_up', 'local-1', 'local-2', 'world-half-begun-0', $2,
           'world-half-begun-m1', $3, 'usr-1', 'test', $4`,
        [randomBytes(16).toString("hex"), uid, lock, at],
      );
    const uid = (await fixture.base.kube.get(resources.claims, { name: "world-half-begun-0", namespace }))
      .metadata.uid;
    await insert("migration@2026-01-01T00:00:00.000Z", new Date(Date.now() - 3_600_000));
    const replica = await fixture.start();
    const count = async () =>
      (
        await fixture.base.database.admin(
          "select 1 from storage.world_migrations where server_name = 'half-begun'",
        )
      ).length;
    await until(async () => (await count()) === 0);
    const at = new Date();
    const lock = `migration@${at.toISOString()}`;
    await fixture.setLock("half-begun", lock);
    await insert(lock, at);
    await until(() =>
      fixture.read("half-begun").then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await fixture.reaches("half-begun", "succeeded", "failed")).state, "succeeded");
    await replica.stop();
  });
});
