// Any process dies at any step: no world is lost, every present backup can be read back, and nothing stays
// locked or running for ever.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { killPoint } from "@svc/config/testing";
import { resources } from "@svc/kube";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { backups } from "@svc/proto";
import { createClusterProcess } from "../testing/cluster-process.ts";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { hanging } from "../testing/outage.ts";
import { type StorageProcess, startProcess } from "../testing/storage-process.ts";
import { namespace } from "../testing/worlds.ts";

const first = { "level.dat": "one", "region/r.0.0.mca": "chunks" };
const second = { "level.dat": "two", "plugins/new.jar": "added later" };
const steps = ["backup", "backup-done", "restore", "restore-done"] as const;

type Disaster = {
  name: string;
  inject: (at: string) => Promise<void>;
  recover: () => Promise<void>;
  fails?: true;
};

describe("a process that dies during the Job of a world", () => {
  let fixture: Fixture;
  let service: StorageProcess;
  const cluster = createClusterProcess();
  before(async () => {
    fixture = await openFixture({ cluster: cluster.start });
    service = await startProcess(fixture);
  });
  after(async () => {
    await service?.kill();
    await fixture?.close();
  });

  const owner = account("usr-1");
  const jobsOf = async (name: string) =>
    (await fixture.external.call(backups.listJobs, { name }, staff)).jobs;
  const isOpen = (job: backups.WorldJob) => job.state === "running" || job.then_restore === "pending";
  const settled = async (name: string) => {
    const look = () => jobsOf(name).catch(() => undefined);
    await until(async () => (await look())?.every((job) => !isOpen(job)) ?? false, 40_000);
    return jobsOf(name);
  };
  const backUp = async (name: string) => {
    await fixture.external.call(backups.create, { name }, staff);
    return settled(name);
  };

  async function checkArchives(): Promise<void> {
    const rows = await fixture.database.admin(
      "select backup_ref, sha256, size_bytes from storage.world_backups where status = 'present'",
    );
    for (const row of rows) {
      const bytes = readFileSync(join(fixture.archiveDir, String(row["backup_ref"]).split("/").at(-1) ?? ""));
      assert.equal(createHash("sha256").update(bytes).digest("hex"), row["sha256"]);
      assert.equal(bytes.length, Number(row["size_bytes"]));
    }
  }

  const disasters: Disaster[] = [
    {
      name: "the service dies",
      // Without a clean shutdown: its lease is still held, and its work is left half done.
      inject: () => service.kill(),
      recover: async () => {
        service = await startProcess(fixture);
      },
    },
    { name: "PostgreSQL dies", inject: () => fixture.wire.cut(), recover: () => fixture.wire.recover() },
    { name: "NATS dies", inject: () => fixture.nats.kill(), recover: () => fixture.nats.start() },
    { name: "the cluster dies", inject: () => cluster.kill(), recover: () => cluster.restart() },
    { name: "the service hangs", ...hanging(() => service.pause()) },
    { name: "PostgreSQL hangs", ...hanging(() => fixture.wire.pause()) },
    { name: "NATS hangs", ...hanging(() => fixture.nats.pause()) },
    { name: "the cluster hangs", ...hanging(cluster.pause) },
    {
      name: "the agent dies",
      fails: true,
      inject: async (at) => {
        process.kill(fixture.pidAt(at) ?? 0, "SIGKILL");
      },
      recover: async () => {},
    },
    {
      name: "the Job is deleted",
      fails: true,
      inject: async () => {
        const { items } = await fixture.kube.list(resources.jobs, { namespace });
        const active = items.filter(({ status }) => (status?.active ?? 0) > 0);
        for (const { metadata } of active) {
          const options = { propagationPolicy: "Background", gracePeriodSeconds: 0 } as const;
          await fixture.kube.remove(resources.jobs, { name: metadata.name, namespace }, options);
        }
      },
      recover: async () => {},
    },
  ];

  let count = 0;
  for (const [row, disaster] of disasters.entries()) {
    for (const [column, step] of steps.entries()) {
      const options = killPoint(row * steps.length + column, 7);
      test(
        `${disaster.name} at the step ${step}: the world is complete, as before or after the change`,
        options,
        async () => {
          count += 1;
          const name = `kill-${count}`;
          await fixture.addServer(name, "usr-1", first);
          await backUp(name);
          fixture.changeWorld(name, second);
          fixture.pauseAt(step);
          const asked = { name, safety_snapshot: true };
          await fixture.external.call(backups.restore, asked, owner);
          await until(() => fixture.pidAt(step) !== undefined, 20_000);
          await disaster.inject(step);
          fixture.resumeAt(step);
          await disaster.recover();
          const jobs = await settled(name);
          await checkArchives();

          const world = fixture.worldOf(name);
          const isRestored = JSON.stringify(world) === JSON.stringify(first);
          const isUntouched = JSON.stringify(world) === JSON.stringify(second);
          assert.ok(isRestored || isUntouched, JSON.stringify({ world, jobs }));
          if (!disaster.fails) assert.ok(isRestored, JSON.stringify(jobs));
          const [last] = jobs;
          if (last?.kind === "restore" && last.state === "succeeded") assert.ok(isRestored);
          // In every case the world is unlocked again and takes another Job.
          assert.equal(await faultOf(fixture.external.call(backups.create, { name }, staff)), "none");
          assert.equal((await settled(name))[0]?.state, "succeeded");
          await checkArchives();
        },
      );
    }
  }

  test("a backup whose Job died after completing the archive is present", async () => {
    await fixture.addServer("silent", "usr-1", first);
    fixture.pauseAt("backup-done");
    await fixture.external.call(backups.create, { name: "silent" }, staff);
    await until(() => fixture.pidAt("backup-done") !== undefined, 20_000);
    process.kill(fixture.pidAt("backup-done") ?? 0, "SIGKILL");
    fixture.resumeAt("backup-done");
    assert.equal((await settled("silent"))[0]?.state, "succeeded");
    const page = { server: "silent", limit: 20, offset: 0 };
    assert.equal((await fixture.external.call(backups.list, page, staff)).total, 1);
    await checkArchives();
  });

  test("a request whose Job the cluster never accepted is reported as failed, and the next one works", async () => {
    await fixture.addServer("never", "usr-1", first);
    await fixture.database.admin(
      `insert into storage.world_jobs (job, server_name, kind, started_by, archive, started_at)
       values ('backup-never-0000000000', 'never', 'backup', 'test', 'never-1.tar.zst', now() - interval '10 minutes')`,
    );
    const [job] = await settled("never");
    assert.deepEqual([job?.state, job?.message], ["failed", "the job was never started"]);
    assert.equal((await backUp("never"))[0]?.state, "succeeded");
  });

  test("two replicas record each end once", async () => {
    const other = await fixture.start();
    try {
      const names = ["pair-1", "pair-2", "pair-3", "pair-4"];
      for (const name of names) await fixture.addServer(name, "usr-1", first);
      await Promise.all(names.map((name) => fixture.external.call(backups.create, { name }, staff)));
      for (const name of names) await settled(name);
      const rows = await fixture.database.admin(
        "select server_name, count(*) from storage.world_backups where server_name like 'pair-%' group by 1",
      );
      assert.deepEqual(
        rows.map((row) => Number(row["count"])),
        [1, 1, 1, 1],
      );
    } finally {
      await other.stop();
    }
  });
});
