import assert from "node:assert/strict";
import type { Json } from "./client.ts";
import { type Case, namesOf, type TestContext } from "./test-context.ts";

const containers = [{ name: "main", image: "example/none:1" }];

function statefulSet(name: string, replicas: number): Json {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ ...containers[0], volumeMounts: [{ name: "data", mountPath: "/data" }] }] },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  };
}

function job(name: string, spec: object = {}): Json {
  return {
    metadata: { name },
    spec: { template: { spec: { restartPolicy: "Never", containers } }, ...spec },
  };
}

const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

async function podsOf({ expect, path }: TestContext): Promise<string[]> {
  return namesOf(await expect(200, "GET", path("pods")));
}

/** The workload controllers, with the test acting as the nodes. */
export const workloadCases: Case[] = [
  {
    name: "a stateful set creates its pods in order, each with its claim, and scales down in reverse order",
    controllers: true,
    run: async (world) => {
      const { expect, path, eventually, patch } = world;
      await expect(201, "POST", path("apps/v1/statefulsets"), { body: statefulSet("s", 2) });
      const first = await eventually(path("pods", "s-0"), ({ status }) => status === 200);
      assert.equal(first.metadata.labels["statefulset.kubernetes.io/pod-name"], "s-0");
      assert.deepEqual(await podsOf(world), ["s-0"]);
      const claim = first.spec.volumes.find((volume: Json) => volume.name === "data");
      assert.equal(claim.persistentVolumeClaim.claimName, "data-s-0");
      await eventually(path("persistentvolumeclaims", "data-s-0"), ({ status }) => status === 200);
      await patch("strategic", path("pods", "s-0", "status"), { status: ready });
      await eventually(path("pods", "s-1"), ({ status }) => status === 200);
      await patch("strategic", path("pods", "s-1", "status"), { status: ready });
      const set = path("apps/v1/statefulsets", "s");
      await eventually(
        set,
        ({ body }) => body.status.readyReplicas === 2 && body.status.observedGeneration === 1,
      );
      await patch("merge", path("apps/v1/statefulsets", "s", "scale"), { spec: { replicas: 1 } });
      await eventually(path("pods", "s-1"), ({ status }) => status === 404);
      await eventually(set, ({ body }) => body.status.replicas === 1);
      await expect(200, "GET", path("persistentvolumeclaims", "data-s-1"));
      await expect(200, "GET", path("pods", "s-0"));
    },
  },
  {
    name: "a change of an immutable field of a stateful set is 422",
    run: async ({ expect, path, patch }) => {
      await expect(201, "POST", path("apps/v1/statefulsets"), { body: statefulSet("s", 0) });
      const refused = await patch("merge", path("apps/v1/statefulsets", "s"), {
        spec: { serviceName: "other" },
      });
      assert.equal(refused.status, 422);
      const allowed = await patch("merge", path("apps/v1/statefulsets", "s"), {
        spec: { replicas: 0, template: { metadata: { labels: { app: "s", v: "2" } } } },
      });
      assert.deepEqual([allowed.status, allowed.body.metadata.generation], [200, 2]);
      const body = statefulSet("t", 0);
      body.spec.selector.matchLabels = { app: "other" };
      assert.equal((await expect(422, "POST", path("apps/v1/statefulsets"), { body })).reason, "Invalid");
    },
  },
  {
    name: "deleting a stateful set deletes its pods and keeps its claims",
    controllers: true,
    run: async ({ expect, path, eventually }) => {
      await expect(201, "POST", path("apps/v1/statefulsets"), { body: statefulSet("s", 1) });
      await eventually(path("pods", "s-0"), ({ status }) => status === 200);
      await expect(200, "DELETE", path("apps/v1/statefulsets", "s"));
      await eventually(path("pods", "s-0"), ({ status }) => status === 404);
      await expect(200, "GET", path("persistentvolumeclaims", "data-s-0"));
    },
  },
  {
    name: "a job whose pod succeeds is complete",
    controllers: true,
    run: async ({ expect, path, eventually, patch }) => {
      const made = await expect(201, "POST", path("batch/v1/jobs"), { body: job("j") });
      assert.deepEqual([made.spec.completions, made.spec.parallelism, made.spec.backoffLimit], [1, 1, 6]);
      const query = `${path("pods")}?labelSelector=job-name%3Dj`;
      const list = await eventually(query, ({ body }) => body.items.length === 1);
      await patch("strategic", path("pods", list.items[0].metadata.name, "status"), {
        status: { phase: "Succeeded" },
      });
      const done = await eventually(path("batch/v1/jobs", "j"), ({ body }) =>
        (body.status.conditions ?? []).some((one: Json) => one.type === "Complete" && one.status === "True"),
      );
      assert.equal(done.status.succeeded, 1);
      await expect(200, "DELETE", `${path("batch/v1/jobs", "j")}?propagationPolicy=Background`);
      await eventually(query, ({ body }) => body.items.length === 0);
    },
  },
  {
    name: "a job fails when its backoff limit is reached",
    controllers: true,
    run: async ({ expect, path, eventually, patch }) => {
      await expect(201, "POST", path("batch/v1/jobs"), { body: job("j", { backoffLimit: 0 }) });
      const list = await eventually(
        `${path("pods")}?labelSelector=job-name%3Dj`,
        ({ body }) => body.items.length === 1,
      );
      await patch("strategic", path("pods", list.items[0].metadata.name, "status"), {
        status: { phase: "Failed" },
      });
      const failed = await eventually(path("batch/v1/jobs", "j"), ({ body }) =>
        (body.status.conditions ?? []).some((one: Json) => one.type === "Failed" && one.status === "True"),
      );
      const [condition] = failed.status.conditions.filter((one: Json) => one.type === "Failed");
      assert.equal(condition.reason, "BackoffLimitExceeded");
    },
  },
  {
    name: "a job's template and restart policy are validated",
    run: async ({ expect, path, patch }) => {
      const body = job("j");
      body.spec.template.spec.restartPolicy = "Always";
      assert.equal((await expect(422, "POST", path("batch/v1/jobs"), { body })).reason, "Invalid");
      await expect(201, "POST", path("batch/v1/jobs"), { body: job("k", { parallelism: 0 }) });
      const change = {
        spec: { template: { spec: { containers: [{ name: "other", image: "example/none:1" }] } } },
      };
      assert.equal((await patch("merge", path("batch/v1/jobs", "k"), change)).status, 422);
    },
  },
  {
    name: "a deployment creates its pods through a replica set",
    controllers: true,
    run: async ({ expect, path, eventually }) => {
      const labels = { app: "d" };
      const spec = {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      };
      await expect(201, "POST", path("apps/v1/deployments"), { body: { metadata: { name: "d" }, spec } });
      const list = await eventually(
        `${path("pods")}?labelSelector=app%3Dd`,
        ({ body }) => body.items.length === 2,
      );
      assert.equal(list.items[0].metadata.ownerReferences[0].kind, "ReplicaSet");
      await expect(200, "DELETE", path("apps/v1/deployments", "d"));
      await eventually(`${path("pods")}?labelSelector=app%3Dd`, ({ body }) => body.items.length === 0);
    },
  },
];
