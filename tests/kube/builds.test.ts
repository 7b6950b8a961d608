// Jobs of builds on a real API server, with no more rights than the shipped Role gives builds, within the shipped bounds of their
// namespace. Nothing runs the pods: what a kubelet would say of them is written here. SVC_KUBE_LANE names the kubeconfig, as in
// conformance.test.ts.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { connectKube, isKubeError, type Job, type Kube, type Pod, resource, resources } from "@svc/kube";
import { parseQuantity } from "@svc/kube/quantity";
import { type buildJobs, builds } from "@svc/proto";
import { until } from "../../libs/mesh/src/testing.ts";
import { buildJob, secretOfJob } from "../../services/builds/src/build/job.ts";
import { settings as schema } from "../../services/builds/src/config.ts";
import {
  type BuildFixture,
  type BuildReplica,
  namespace,
  openBuildFixture,
} from "../../services/builds/src/testing/build-fixture.ts";
import { admin } from "../../services/builds/src/testing/fixture.ts";
import { applyRelease, readManifest } from "../../services/lifecycle/src/testing/release-manifests.ts";
import { apply, olderVersions } from "./apply.ts";
import { assertHolds } from "./holds.ts";
import { granted, type Recorder, recordAccount } from "./recorder.ts";

const lane = process.env["SVC_KUBE_LANE"];
const quotas = resource({
  group: "",
  version: "v1",
  plural: "resourcequotas",
  kind: "ResourceQuota",
  namespaced: true,
});
const newId = () => randomBytes(16).toString("hex");
const gi = (size = "0") => Number(parseQuantity(size)) / 1e9 / 2 ** 30;

describe("builds on a real API server", () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  let kube: Kube;
  let own: Kube;
  let fixture: BuildFixture;
  let replica: BuildReplica;
  let recorder: Recorder;

  before(async () => {
    kube = connectKube({ kubeconfigFile: lane });
    await applyRelease(kube);
    const older = await olderVersions(kube);
    // The bounds of the namespace and its network policies.
    for (const object of readManifest("base/build-namespace.yaml"))
      await apply(kube, object as Parameters<typeof apply>[1], { older });
    fixture = await openBuildFixture(async (dataDir) => {
      copyFileSync(lane, join(dataDir, "kubeconfig"));
      recorder = await recordAccount(kube, { kubeconfig: lane, account: "builds", dir: dataDir });
      own = connectKube({ kubeconfigFile: join(dataDir, "kubeconfig.builds") });
      return {
        close: async () => {
          own.close();
          recorder.close();
        },
      };
    });
    replica = await fixture.start();
  });
  after(async () => {
    await fixture?.close();
    const about = { namespace, labelSelector: "svc.internal/component=build-job" };
    for (const { metadata } of (await kube?.list(resources.jobs, about).catch(() => undefined))?.items ?? [])
      await kube.remove(
        resources.jobs,
        { namespace, name: metadata.name },
        { propagationPolicy: "Background" },
      );
    kube?.close();
  });

  const podOf = async (id: string) => {
    const { items } = await kube.list(resources.pods, {
      namespace,
      labelSelector: `svc.internal/build=${id}`,
    });
    return items[0];
  };
  const start = (tag: string) =>
    fixture.gateway.call(builds.startBuild, fixture.request(tag) as never, admin);
  const say = (pod: Pod, status: object) =>
    kube.patch(
      resources.pods,
      { namespace, name: pod.metadata.name },
      { merge: { status }, subresource: "status" },
    );
  const job = (id: string, more: Partial<buildJobs.BuildTask> = {}, kind: builds.BuildKind = "build") => {
    const overrides = ["builds.agent_image=svc:1", "builds.builder=buildah:1", "builds.scanner=trivy:1"];
    const task = { build_id: id, ...more } as buildJobs.BuildTask;
    const settings = loadSettings(schema, { overrides });
    return buildJob(settings, { id, kind, task, hasRegistryCredential: true });
  };

  test("it takes the Jobs of builds, of packs with downloads and of scans as they are, without leaving out a field", async () => {
    const downloads = { hosts: ["cdn.modrinth.com"], files: 1, bytes: 1 };
    for (const body of [job(newId()), job(newId(), { downloads }), job(newId(), {}, "scan")]) {
      const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
      const query = { dryRun: "All", fieldValidation: "Strict" };
      const taken = (await kube.transport.request({ method: "POST", path, query, body })) as Job;
      // An API server as old as the lane's knows no lifetime of finished Jobs yet.
      const { ttlSecondsAfterFinished: _, ...rest } = body.spec as unknown as Record<string, unknown>;
      assertHolds(taken.spec, rest);
    }
  });

  test("the service makes the Job and its Secret, and the pod may fill its volumes within the bounds of the namespace", async () => {
    const { id } = await start("real");
    const pod = await until(() => podOf(id), 40_000);
    const {
      initContainers = [],
      containers = [],
      volumes = [],
    } = pod.spec as Required<NonNullable<Pod["spec"]>>;
    const limits = [...initContainers, ...containers].map(({ resources: given }) =>
      gi(given?.limits?.["ephemeral-storage"]),
    );
    const full = volumes.reduce((sum, { emptyDir }) => sum + gi(emptyDir?.sizeLimit), 0);
    assert.ok(Math.max(...limits) >= full, `${Math.max(...limits)} of ${full}`);
    const secret = await kube.get(resources.secrets, { namespace, name: `build-${id}` });
    assert.deepEqual(Object.keys(secret.data ?? {}).sort(), ["credential", "documents", "token"]);
    const startedAt = new Date().toISOString();
    await say(pod, {
      phase: "Pending",
      initContainerStatuses: [{ name: "context-fetch", state: { running: { startedAt } } }],
    });
    await until(async () => (await fixture.read(id)).progress?.step === "context-fetch", 20_000);
    await fixture.gateway.call(builds.cancelBuild, { id }, admin);
    await until(async () => (await podOf(id)) === undefined, 40_000);
    await until(
      async () => (await kube.find(resources.secrets, { namespace, name: `build-${id}` })) === undefined,
      40_000,
    );
  });

  test("a step that fails ends the build with its message, and its Secret is gone", async () => {
    const { id } = await start("fails");
    const pod = await until(() => podOf(id), 40_000);
    const message = "the context can't be fetched";
    const at = new Date().toISOString();
    const terminated = { exitCode: 1, reason: "Error", message, startedAt: at, finishedAt: at };
    await say(pod, {
      phase: "Failed",
      initContainerStatuses: [{ name: "context-fetch", state: { terminated } }],
    });
    const ended = await until(async () => {
      const read = await fixture.read(id);
      return read.finished_at === undefined ? undefined : read;
    }, 40_000);
    assert.deepEqual([ended.status, ended.error], ["failed", `context-fetch: ${message}`]);
    await until(
      async () => (await kube.find(resources.secrets, { namespace, name: `build-${id}` })) === undefined,
      40_000,
    );
  });

  test("the quota of the namespace holds back a ninth pod, and what belongs to a Job goes with it", async () => {
    // It would remove Jobs that it knows no build of.
    await replica.stop();
    const ids = Array.from({ length: 9 }, newId);
    const made = await Promise.all(ids.map((id) => kube.create(resources.jobs, job(id))));
    const used = async () => {
      const quota = (await kube.get(quotas, { namespace, name: "builds" })) as {
        status?: { used?: Record<string, string> };
      };
      return quota.status?.used?.["pods"];
    };
    const refusals = async () => {
      const { items } = await kube.list(resources.events, { namespace });
      return items.filter(({ message }) => /exceeded quota: builds/.test(message));
    };
    await until(async () => (await refusals()).length > 0, 40_000, "a pod that the quota refuses");
    // The quota is used up before the pod that used it is stored.
    const there = async () => (await Promise.all(ids.map(podOf))).filter((pod) => pod !== undefined).length;
    await until(async () => (await there()) === 8, 40_000, "eight pods");
    assert.equal(await used(), "8");
    const [first] = made;
    assert.ok(first);
    await own.create(resources.secrets, secretOfJob(first, { documents: "x" }));
    for (const { metadata } of made)
      await own.remove(
        resources.jobs,
        { namespace, name: metadata.name },
        { propagationPolicy: "Background" },
      );
    await until(
      async () =>
        (await kube.find(resources.secrets, { namespace, name: first.metadata.name })) === undefined,
      40_000,
    );
  });

  test("the service has and needs exactly the rights of its Role", async () => {
    const used = new Set(recorder.used);
    const { refused } = recorder;
    assert.deepEqual(refused, []);
    const forbidden = [
      () => own.list(resources.secrets, { namespace }),
      () => own.get(resources.secrets, { namespace, name: "x" }),
      () => own.create(resources.pods, { metadata: { name: "x", namespace } } as never),
      () => own.remove(resources.pods, { namespace, name: "x" }),
      () => own.create(resources.jobs, { ...job(newId()), metadata: { name: "x", namespace: "svc" } }),
      () => own.list(resources.jobs, { namespace: "minecraft" }),
      () => own.list(resources.pods, { namespace: "svc" }),
      () => own.list(resources.nodes),
    ];
    for (const call of forbidden) await assert.rejects(call, (error) => isKubeError(error, 403));
    const given = granted(/^svc-builds$/);
    assert.deepEqual(
      [...used].filter((right) => !given.has(right)),
      [],
    );
    // A Job that was there already is read; logs are there once a kubelet has them.
    const rare = ["batch/jobs get", "/pods/log get"];
    assert.deepEqual(
      [...given].filter((right) => !used.has(right) && !rare.includes(right)),
      [],
    );
  });
});
