// Whatever dies at whatever step: no world is lost, every row that says present can be read back, and nothing stays
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
import { createMortalCluster } from "../testing/cluster-process.ts";
import { openStage, type Stage } from "../testing/fixture.ts";
import { hanging } from "../testing/outage.ts";
import { type Process, startProcess } from "../testing/storage-process.ts";
import { namespace } from "../testing/worlds.ts";

const first = { "level.dat": "one", "region/r.0.0.mca": "chunks" };
const second = { "level.dat": "two", "plugins/new.jar": "added later" };
const steps = ["backup", "backup-told", "restore", "restore-told"] as const;

type Disaster = {
  name: string;
  strike: (at: string) => Promise<void>;
  mend: () => Promise<void>;
  fails?: true;
};

describe("what dies while worlds are worked on", () => {
  let stage: Stage;
  let service: Process;
  const cluster = createMortalCluster();
  before(async () => {
    stage = await openStage({ cluster: cluster.start });
    service = await startProcess(stage);
  });
  after(async () => {
    await service?.kill();
    await stage?.close();
  });

  const owner = account("usr-1");
  const jobsOf = async (name: string) => (await stage.external.call(backups.listJobs, { name }, staff)).jobs;
  const isOpen = (job: backups.WorldJob) => job.state === "running" || job.then_restore === "pending";
  const settled = async (name: string) => {
    const look = () => jobsOf(name).catch(() => undefined);
    await until(async () => (await look())?.every((job) => !isOpen(job)) ?? false, 40_000);
    return jobsOf(name);
  };
  const backUp = async (name: string) => {
    await stage.external.call(backups.create, { name }, staff);
    return settled(name);
  };

  async function checkArchives(): Promise<void> {
    const rows = await stage.database.admin(
      "select backup_ref, sha256, size_bytes from storage.world_backups where status = 'present'",
    );
    for (const row of rows) {
      const bytes = readFileSync(join(stage.archiveDir, String(row["backup_ref"]).split("/").at(-1) ?? ""));
      assert.equal(createHash("sha256").update(bytes).digest("hex"), row["sha256"]);
      assert.equal(bytes.length, Number(row["size_bytes"]));
    }
  }

  const disasters: Disaster[] = [
    {
      name: "the service dies",
      // Without any farewell: its lease is still held, what it was doing is left where it is.
      strike: () => service.kill(),
      mend: async () => {
        service = await startProcess(stage);
      },
    },
    { name: "PostgreSQL dies", strike: () => stage.wire.cut(), mend: () => stage.wire.mend() },
    { name: "NATS dies", strike: () => stage.nats.kill(), mend: () => stage.nats.start() },
    { name: "the cluster dies", strike: () => cluster.kill(), mend: () => cluster.restart() },
    { name: "the service hangs", ...hanging(() => service.pause()) },
    { name: "PostgreSQL hangs", ...hanging(() => stage.wire.pause()) },
    { name: "NATS hangs", ...hanging(() => stage.nats.pause()) },
    { name: "the cluster hangs", ...hanging(cluster.pause) },
    {
      name: "the agent dies",
      fails: true,
      strike: async (at) => {
        process.kill(stage.pidAt(at) ?? 0, "SIGKILL");
      },
      mend: async () => {},
    },
    {
      name: "the Job is deleted",
      fails: true,
      strike: async () => {
        const { items } = await stage.kube.list(resources.jobs, { namespace });
        const active = items.filter(({ status }) => (status?.active ?? 0) > 0);
        for (const { metadata } of active) {
          const options = { propagationPolicy: "Background", gracePeriodSeconds: 0 } as const;
          await stage.kube.remove(resources.jobs, { name: metadata.name, namespace }, options);
        }
      },
      mend: async () => {},
    },
  ];

  let count = 0;
  for (const [row, disaster] of disasters.entries()) {
    for (const [column, step] of steps.entries()) {
      const options = killPoint(row * steps.length + column, 7);
      test(
        `${disaster.name} at the step ${step}: the world is whole, one way or the other`,
        options,
        async () => {
          count += 1;
          const name = `kill-${count}`;
          await stage.addServer(name, "usr-1", first);
          await backUp(name);
          stage.changeWorld(name, second);
          stage.hold(step);
          const asked = { name, safety_snapshot: true };
          await stage.external.call(backups.restore, asked, owner);
          await until(() => stage.pidAt(step) !== undefined, 20_000);
          await disaster.strike(step);
          stage.unhold(step);
          await disaster.mend();
          const jobs = await settled(name);
          await checkArchives();

          const world = stage.worldOf(name);
          const isRestored = JSON.stringify(world) === JSON.stringify(first);
          const isUntouched = JSON.stringify(world) === JSON.stringify(second);
          assert.ok(isRestored || isUntouched, JSON.stringify({ world, jobs }));
          if (!disaster.fails) assert.ok(isRestored, JSON.stringify(jobs));
          const [last] = jobs;
          if (last?.kind === "restore" && last.state === "succeeded") assert.ok(isRestored);
          // Whatever happened, the world is free again and can be worked on.
          assert.equal(await faultOf(stage.external.call(backups.create, { name }, staff)), "none");
          assert.equal((await settled(name))[0]?.state, "succeeded");
          await checkArchives();
        },
      );
    }
  }

  test("a backup whose Job died after its archive was whole is a backup all the same", async () => {
    await stage.addServer("silent", "usr-1", first);
    stage.hold("backup-told");
    await stage.external.call(backups.create, { name: "silent" }, staff);
    await until(() => stage.pidAt("backup-told") !== undefined, 20_000);
    process.kill(stage.pidAt("backup-told") ?? 0, "SIGKILL");
    stage.unhold("backup-told");
    assert.equal((await settled("silent"))[0]?.state, "succeeded");
    const page = { server: "silent", limit: 20, offset: 0 };
    assert.equal((await stage.external.call(backups.list, page, staff)).total, 1);
    await checkArchives();
  });

  test("a request whose Job the cluster never took is told as failed, and the next one works", async () => {
    await stage.addServer("never", "usr-1", first);
    await stage.database.admin(
      `insert into storage.world_jobs (job, server_name, kind, started_by, archive, started_at)
       values ('backup-never-0000000000', 'never', 'backup', 'test', 'never-1.tar.zst', now() - interval '10 minutes')`,
    );
    const [job] = await settled("never");
    assert.deepEqual([job?.state, job?.message], ["failed", "the job was never started"]);
    assert.equal((await backUp("never"))[0]?.state, "succeeded");
  });

  test("two replicas settle everything once", async () => {
    const other = await stage.start();
    try {
      const names = ["pair-1", "pair-2", "pair-3", "pair-4"];
      for (const name of names) await stage.addServer(name, "usr-1", first);
      await Promise.all(names.map((name) => stage.external.call(backups.create, { name }, staff)));
      for (const name of names) await settled(name);
      const rows = await stage.database.admin(
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
