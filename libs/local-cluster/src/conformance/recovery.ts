import assert from "node:assert/strict";
import type { Answer, Json } from "./client.ts";
import type { Case, TestContext } from "./test-context.ts";

const containers = [{ name: "main", image: "example/none:1" }];
const newImage = "example/none:2";
const newTemplate = { spec: { containers: [{ name: "main", image: newImage }] } };
const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

function statefulSet(replicas: number, updateStrategy: Json = { type: "RollingUpdate" }): Json {
  const labels = { app: "s" };
  const template = { metadata: { labels }, spec: { containers, terminationGracePeriodSeconds: 0 } };
  return {
    metadata: { name: "s" },
    spec: { replicas, serviceName: "s", selector: { matchLabels: labels }, template, updateStrategy },
  };
}

function job(spec: object): Json {
  return {
    metadata: { name: "j" },
    spec: { template: { spec: { restartPolicy: "Never", containers } }, ...spec },
  };
}

const jobPods = (world: TestContext) => `${world.path("pods")}?labelSelector=job-name%3Dj`;
const setPhase = (world: TestContext, name: string, phase: string) =>
  world.patch("strategic", world.path("pods", name, "status"), { status: { phase } });
const isAnotherThan =
  (uid: string) =>
  ({ status, body }: Answer) =>
    status === 200 && body.metadata.uid !== uid && body.metadata.deletionTimestamp === undefined;
const failedWith =
  (reason: string) =>
  ({ body }: Answer) =>
    body.status.conditions?.some((one: Json) => one.type === "Failed" && one.reason === reason);

async function setWithReadyPod(world: TestContext, set: Json): Promise<Json> {
  await world.expect(201, "POST", world.path("apps/v1/statefulsets"), { body: set });
  const pod = await world.eventually(world.path("pods", "s-0"), ({ status }) => status === 200);
  await world.patch("strategic", world.path("pods", "s-0", "status"), { status: ready });
  return pod;
}

/** How workload controllers handle pods that end, are deleted or are out of date. */
export const recoveryCases: Case[] = [
  {
    name: "a stateful set replaces a deleted pod under the same name",
    controllers: true,
    run: async (world) => {
      const { metadata } = await setWithReadyPod(world, statefulSet(1));
      await world.expect(200, "DELETE", `${world.path("pods", "s-0")}?gracePeriodSeconds=0`);
      await world.eventually(world.path("pods", "s-0"), isAnotherThan(metadata.uid));
    },
  },
  {
    name: "a stateful set replaces a failed pod under the same name",
    controllers: true,
    run: async (world) => {
      const { metadata } = await setWithReadyPod(world, statefulSet(1));
      await setPhase(world, "s-0", "Failed");
      await world.eventually(world.path("pods", "s-0"), isAnotherThan(metadata.uid));
    },
  },
  {
    name: "a stateful set with zero replicas has no pods, and its status says so",
    controllers: true,
    run: async (world) => {
      await setWithReadyPod(world, statefulSet(1));
      const set = world.path("apps/v1/statefulsets", "s");
      await world.patch("merge", set, { spec: { replicas: 0 } });
      await world.eventually(world.path("pods", "s-0"), ({ status }) => status === 404);
      await world.eventually(
        set,
        ({ body: { status } }) =>
          status.replicas === 0 && !status.readyReplicas && status.observedGeneration === 2,
      );
    },
  },
  {
    name: "a rolling update replaces a pod of an old template",
    controllers: true,
    run: async (world) => {
      const { metadata } = await setWithReadyPod(world, statefulSet(1));
      await world.patch("strategic", world.path("apps/v1/statefulsets", "s"), {
        spec: { template: newTemplate },
      });
      // While its status still counts the deleted pod, Kubernetes may create one more of the old template, and replaces
      // that one only when it is ready, which no kubelet reports here.
      for (let old = metadata.uid, image = ""; image !== newImage; ) {
        const pod = await world.eventually(world.path("pods", "s-0"), isAnotherThan(old));
        image = pod.spec.containers[0].image;
        old = pod.metadata.uid;
        if (image !== newImage)
          await world.patch("strategic", world.path("pods", "s-0", "status"), { status: ready });
      }
    },
  },
  {
    name: "with OnDelete a pod of an old template stays until it is deleted",
    controllers: true,
    run: async (world) => {
      const { metadata } = await setWithReadyPod(world, statefulSet(1, { type: "OnDelete" }));
      const set = world.path("apps/v1/statefulsets", "s");
      await world.patch("strategic", set, { spec: { template: newTemplate } });
      await world.eventually(set, ({ body: { status } }) => status.observedGeneration === 2);
      const kept = await world.expect(200, "GET", world.path("pods", "s-0"));
      assert.equal(kept.metadata.uid, metadata.uid);
      await world.expect(200, "DELETE", `${world.path("pods", "s-0")}?gracePeriodSeconds=0`);
      const fresh = await world.eventually(world.path("pods", "s-0"), isAnotherThan(metadata.uid));
      assert.equal(fresh.spec.containers[0].image, newImage);
    },
  },
  {
    name: "a job replaces a deleted pod",
    controllers: true,
    run: async (world) => {
      await world.expect(201, "POST", world.path("batch/v1/jobs"), { body: job({}) });
      const isOne = ({ body }: Answer) => body.items.length === 1;
      const [first] = (await world.eventually(jobPods(world), isOne)).items;
      await world.expect(200, "DELETE", `${world.path("pods", first.metadata.name)}?gracePeriodSeconds=0`);
      await world.eventually(
        jobPods(world),
        (answer) => isOne(answer) && answer.body.items[0].metadata.uid !== first.metadata.uid,
      );
    },
  },
  {
    name: "a job needs as many successes as it has completions",
    controllers: true,
    run: async (world) => {
      const body = job({ completions: 2, parallelism: 2 });
      await world.expect(201, "POST", world.path("batch/v1/jobs"), { body });
      const { items } = await world.eventually(jobPods(world), ({ body: list }) => list.items.length === 2);
      await setPhase(world, items[0].metadata.name, "Succeeded");
      const own = world.path("batch/v1/jobs", "j");
      const half = await world.eventually(own, ({ body: { status } }) => status.succeeded === 1);
      assert.equal(half.status.conditions?.some((one: Json) => one.type === "Complete") ?? false, false);
      await setPhase(world, items[1].metadata.name, "Succeeded");
      const done = await world.eventually(
        own,
        ({ body: { status } }) => status.succeeded === 2 && status.completionTime,
      );
      assert.ok(done.status.conditions.some((one: Json) => one.type === "Complete" && one.status === "True"));
    },
  },
  {
    name: "a job that exceeds its deadline fails, and its pod is deleted",
    controllers: true,
    run: async (world) => {
      const body = job({ activeDeadlineSeconds: 1 });
      await world.expect(201, "POST", world.path("batch/v1/jobs"), { body });
      await world.eventually(world.path("batch/v1/jobs", "j"), failedWith("DeadlineExceeded"));
      await world.eventually(jobPods(world), ({ body: { items } }) =>
        items.every((pod: Json) => pod.metadata.deletionTimestamp !== undefined),
      );
    },
  },
  {
    name: "a finished job is removed with its pods after its time to live",
    controllers: true,
    run: async (world) => {
      const body = job({ ttlSecondsAfterFinished: 1 });
      await world.expect(201, "POST", world.path("batch/v1/jobs"), { body });
      const { items } = await world.eventually(jobPods(world), ({ body: list }) => list.items.length === 1);
      await setPhase(world, items[0].metadata.name, "Succeeded");
      await world.eventually(world.path("batch/v1/jobs", "j"), ({ status }) => status === 404);
      await world.eventually(jobPods(world), ({ body: list }) => list.items.length === 0);
    },
  },
  {
    name: "a job that is deleted without a propagation policy orphans its pods",
    controllers: true,
    run: async (world) => {
      await world.expect(201, "POST", world.path("batch/v1/jobs"), { body: job({}) });
      const { items } = await world.eventually(jobPods(world), ({ body }) => body.items.length === 1);
      await world.expect(200, "DELETE", world.path("batch/v1/jobs", "j"));
      await world.eventually(world.path("batch/v1/jobs", "j"), ({ status }) => status === 404);
      const left = await world.eventually(
        world.path("pods", items[0].metadata.name),
        ({ body }) => body.metadata?.ownerReferences === undefined,
      );
      assert.equal(left.metadata.uid, items[0].metadata.uid);
    },
  },
];
