// Storage's loops on a real API server, with no more rights than the shipped Roles give it, and real Jobs. SVC_KUBE_LANE names
// the kubeconfig, as in conformance.test.ts. Everything lies in a namespace of its own, beside the operator's tests.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  connectKube,
  isKubeError,
  type Job,
  type Kube,
  type Pod,
  pathOf,
  resources,
  startInformer,
} from "@svc/kube";
import { backupKeeping, backups, reapers } from "@svc/proto";
import { staff, until } from "../../libs/mesh/src/testing.ts";
import type { StartCluster } from "../../services/storage/src/testing/fixture.ts";
import type { MoveFixture } from "../../services/storage/src/testing/move/fixture.ts";
import { assertHolds } from "./holds.ts";
import { startKubelet } from "./kubelet.ts";
import { granted, type Recorder, recordAccount } from "./recorder.ts";

const lane = process.env["SVC_KUBE_LANE"];
const namespace = `worlds-${randomBytes(3).toString("hex")}`;
// The test beds make everything there; they read it when they are loaded.
process.env["SVC_TEST_NAMESPACE"] = namespace;
const quiet = { warn: () => {} };

describe("storage on a real API server", () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  let fixture: MoveFixture;
  let kube: Kube;
  let own: Kube;
  let recorder: Recorder;
  let operator: MoveFixture["base"]["external"];

  const cluster: StartCluster = async (dataDir, programs) => {
    const { applyRelease } = await import("../../services/storage/src/testing/worlds.ts");
    await applyRelease(kube);
    copyFileSync(lane, join(dataDir, "kubeconfig"));
    recorder = await recordAccount(kube, { kubeconfig: lane, account: "storage", dir: dataDir });
    const kubelet = await startKubelet({
      kube,
      namespace,
      dir: dataDir,
      nodes: ["local-1", "local-2"],
      programs,
    });
    return {
      close: async () => {
        await kubelet.close();
        recorder.close();
      },
    };
  };

  before(async () => {
    kube = connectKube({ kubeconfigFile: lane });
    const { openMoveFixture } = await import("../../services/storage/src/testing/move/fixture.ts");
    fixture = await openMoveFixture("shipped", cluster);
    await fixture.start();
    operator = await fixture.base.nats.connect("operator");
    own = connectKube({ kubeconfigFile: join(fixture.base.dataDir, "kubeconfig.storage") });
  });
  after(async () => {
    own?.close();
    await operator?.drain(500);
    await fixture?.close();
    kube?.close();
  });

  const jobsOf = async (name: string) =>
    (await fixture.base.external.call(backups.listJobs, { name }, staff)).jobs;
  const settled = async (name: string) => {
    const isOpen = (job: backups.WorldJob) => job.state === "running" || job.then_restore === "pending";
    await until(async () => !(await jobsOf(name)).some(isOpen), 40_000);
    return jobsOf(name);
  };
  const first = { "level.dat": "one", "region/r.0.0.mca": "chunks" };
  const second = { "level.dat": "two", "plugins/new.jar": "added later" };

  test("a backup is made by a Job, settled from its log, and its lock is gone", async () => {
    await fixture.base.addServer("survival", "usr-1", first);
    await fixture.base.external.call(backups.create, { name: "survival" }, staff);
    const [job] = await settled("survival");
    assert.deepEqual([job?.kind, job?.state], ["backup", "succeeded"], job?.message);
    assert.equal(await fixture.lockOf("survival"), undefined);
  });

  test("a restore takes its snapshot first, and puts the world back", async () => {
    fixture.base.changeWorld("survival", second);
    const requested = { name: "survival", safety_snapshot: true };
    await fixture.base.external.call(backups.restore, requested, staff);
    const [restored, snapshot] = await settled("survival");
    assert.deepEqual(
      [restored?.kind, restored?.state, snapshot?.then_restore],
      ["restore", "succeeded", "started"],
      restored?.message,
    );
    assert.deepEqual(fixture.base.worldOf("survival"), first);
  });

  test("a world moves to another node through tickets", async () => {
    await fixture.addWorld("traveller");
    const world = await fixture.filesOf("world-traveller-0");
    await fixture.begin("traveller");
    const done = await fixture.reaches("traveller", "succeeded", "failed");
    assert.equal(done.state, "succeeded", done.error);
    assert.deepEqual(await fixture.filesOf(done.targetPVC), world);
    assert.deepEqual(await fixture.specOf("traveller").then(({ nodeName }) => nodeName), "local-2");
    assert.equal(await fixture.lockOf("traveller"), undefined);
  });

  test("the Jobs of a world are not lured to a node whose kubelet gives it the hostname of another", async () => {
    await fixture.addWorld("wanted");
    const pods = startInformer({ kube, resource: resources.pods, namespace, onChange: note, log: quiet });
    const nodesOf = new Map<string, string>();
    function note(_key: string, pod: Pod | undefined) {
      if (pod?.spec?.nodeName !== undefined) nodesOf.set(pod.metadata.name, pod.spec.nodeName);
    }
    const cordon = (unschedulable: boolean) =>
      kube.patch(resources.nodes, { name: "local-1" }, { merge: { spec: { unschedulable } } });
    const rename = (hostname: string) =>
      kube.transport.request({
        ...{ method: "PATCH", path: pathOf(resources.nodes, { name: "local-2" }) },
        ...{ contentType: "application/merge-patch+json" },
        impersonate: { user: "system:node:local-2", group: "system:nodes" },
        body: { metadata: { labels: { "kubernetes.io/hostname": hostname } } },
      });
    const lured: Pod = {
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "lured", namespace } },
      spec: {
        ...{ restartPolicy: "Never", automountServiceAccountToken: false },
        containers: [{ name: "one", image: "svc.local/exits" }],
        volumes: [{ name: "world", persistentVolumeClaim: { claimName: "world-wanted-0" } }],
      },
    };
    try {
      await rename("local-1");
      await cordon(true);
      await kube.create(resources.pods, lured);
      await fixture.base.external.call(backups.create, { name: "wanted" }, staff);
      const [job] = await settled("wanted");
      assert.equal(job?.state, "succeeded", job?.message);
      await until(() => nodesOf.has("lured"), 20_000);
      const backup = [...nodesOf].find(([name]) => name.startsWith("backup-wanted"));
      assert.deepEqual([nodesOf.get("lured"), backup?.[1]], ["local-2", "local-1"]);
    } finally {
      await rename("local-2");
      await cordon(false);
      await kube.remove(resources.pods, { name: "lured", namespace });
      await pods.stop();
    }
  });

  test("a drill restores into a copy of the server, and cleans up", async () => {
    const { id } = await operator.call(backupKeeping.startDrill, { name: "survival" });
    await until(
      async () => (await operator.call(backupKeeping.readDrill, { id })).finished_at !== undefined,
      40_000,
    );
    const end = await operator.call(backupKeeping.readDrill, { id });
    // No set of the operator is here to copy a pod from.
    assert.equal(end.message, "the server was never started, so it has no pod template");
    await until(async () => !(await fixture.hasClaim(`drill-${id}`)));
  });

  test("an idle world is archived, and its claim is gone though the pod of its Job had named it", async () => {
    await fixture.base.addServer("forgotten", "usr-1", first);
    for (const name of ["survival", "traveller", "wanted"])
      fixture.base.servers.lastActive.set(name, new Date());
    fixture.base.servers.lastActive.set("forgotten", new Date(Date.now() - 16 * 86_400_000));
    const about = { retention_only: false, started_by: "test" };
    const { id } = await operator.call(reapers.startReaper, about);
    const read = () => operator.call(reapers.readReaper, { id });
    await until(async () => (await read()).state !== "running", 40_000);
    assert.match((await read()).line, /reaped=1 /);
    const claim = await kube.find(resources.claims, { name: "world-forgotten-0", namespace });
    assert.equal(claim, undefined);
  });

  test("the cluster takes every kind of Job as it is, without leaving out a field", async () => {
    const { items } = await kube.list(resources.jobs, { namespace });
    const managers = new Set(items.map(({ metadata }) => metadata.labels?.["app.kubernetes.io/managed-by"]));
    assert.ok(managers.has("svc-backup") && managers.has("svc-restore"), [...managers].join());
    const { worldJob } = await import("../../services/storage/src/job/spec.ts");
    const { loadSettings } = await import("@svc/config");
    const { settings: schema } = await import("../../services/storage/src/config.ts");
    const settings = loadSettings(schema, {
      overrides: ["storage.agent_image=svc:1", `k8s.namespace=${namespace}`],
    });
    const jobAt = (pin: { identity: string } | { name: string }) => ({
      name: "dry-run",
      server: "survival",
      manager: "svc-restore" as const,
      task: {
        mode: "restore" as const,
        from: { kind: "archive" as const, name: "survival-1.tar.zst" },
        sha256: "0".repeat(64),
      },
      deadlineMs: 60_000,
      world: { claim: "world-survival-0", mode: "rw" as const },
      archive: "ro" as const,
      pin,
    });
    const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const query = { dryRun: "All" };
    for (const pin of [{ identity: "local-1" }, { name: "local-1" }]) {
      const job = worldJob(settings, jobAt(pin));
      const taken = (await kube.transport.request({ method: "POST", path, query, body: job })) as Job;
      // An API server as old as the lane's knows no lifetime of finished Jobs yet.
      const {
        ttlSecondsAfterFinished: _,
        template,
        ...rest
      } = job.spec as unknown as Record<string, unknown>;
      assertHolds(taken.spec, { ...rest, template });
    }
  });

  test("the service has and needs exactly the rights of its Role", async () => {
    const forbidden = [
      () => own.list(resources.secrets, { namespace }),
      () => own.get(resources.secrets, { namespace, name: "survival-rcon" }),
      () => own.remove(resources.jobs, { namespace: "svc", name: "x" }),
      () => own.list(resources.pods, { namespace: "svc" }),
      () => own.list(resources.claims, { namespace: "default" }),
      () => own.patch(resources.nodes, { name: "local-1" }, { merge: { spec: { unschedulable: true } } }),
      () =>
        own.patch(
          resources.claims,
          { namespace, name: "world-survival-0" },
          { merge: { metadata: { labels: { a: "b" } } } },
        ),
      () => own.remove(resources.statefulSets, { namespace, name: "survival" }),
    ];
    const used = new Set(recorder.used);
    assert.deepEqual(recorder.refused, []);
    for (const call of forbidden) await assert.rejects(call, (error) => isKubeError(error, 403));
    const given = granted(/^svc-storage(-moves)?$/);
    assert.deepEqual(
      [...used].filter((right) => !given.has(right)),
      [],
    );
    // What only a whole drill does, with a server to copy.
    assert.deepEqual(
      [...given].filter((right) => !used.has(right)),
      ["/pods create"],
    );
  });
});
