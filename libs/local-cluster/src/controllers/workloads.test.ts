import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { KubeObject } from "../cluster-api.ts";
import type { TestCluster } from "../testing/cluster.ts";
import { awaitObject, awaitPod, isUp, NAMESPACE, readLog, startTestCluster } from "../testing/cluster.ts";
import type { Pod, PodSpec } from "./objects.ts";
import {
  CLAIMS,
  DEPLOYMENTS,
  ENDPOINTS,
  JOBS,
  NAMESPACES,
  PODS,
  SERVICES,
  STATEFUL_SETS,
  VOLUMES,
} from "./refs.ts";

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster();
});
after(async () => {
  await cluster.close();
});

const metadata = (name: string) => ({ name, namespace: NAMESPACE });
const podsOf = (prefix: string) =>
  (cluster.api.list(PODS, { namespace: NAMESPACE }).items as Pod[]).filter((pod) =>
    pod.metadata.name.startsWith(prefix),
  );
const statusNumber = (object: KubeObject, field: string) => Number(object.status?.[field] ?? 0);

function statefulSet(name: string, pod: PodSpec, replicas = 1): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: metadata(name),
    spec: {
      replicas,
      serviceName: `${name}-hl`,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 2, ...pod } },
      volumeClaimTemplates: [
        {
          metadata: { name: "world" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  };
}

const world = [{ name: "world", mountPath: "/data" }];

describe("a StatefulSet", () => {
  it("scales up in order, each pod with its own volume, and down in reverse order", async () => {
    cluster.api.create(
      STATEFUL_SETS,
      statefulSet("scale", { containers: [{ name: "c", image: "sleep", volumeMounts: world }] }, 2),
    );
    const target = { ref: STATEFUL_SETS, name: "scale" };
    await awaitObject(cluster.api, target, (set) => statusNumber(set, "readyReplicas") === 2);
    assert.deepEqual(
      podsOf("scale-")
        .map((pod) => pod.metadata.name)
        .sort(),
      ["scale-0", "scale-1"],
    );
    const claim = cluster.api.get(CLAIMS, "world-scale-1", NAMESPACE);
    assert.equal(claim.status?.["phase"], "Bound");
    cluster.api.mergePatch(
      STATEFUL_SETS,
      { ...metadata("scale"), subresource: "scale" },
      { spec: { replicas: 0 } },
    );
    await awaitObject(cluster.api, target, (set) => statusNumber(set, "replicas") === 0);
    assert.equal(podsOf("scale-").length, 0);
    assert.ok(cluster.api.find(CLAIMS, "world-scale-0", NAMESPACE), "the claim is kept");
  });

  it("keeps the data of its volume across a rolling update and the pod on the same node", async () => {
    const script = "echo life >> $SVC_MOUNT_WORLD/lives; cat $SVC_MOUNT_WORLD/lives; exec sleep 1000";
    const container = { name: "c", image: "sh", args: [script], volumeMounts: world };
    cluster.api.create(STATEFUL_SETS, statefulSet("keeps", { containers: [container] }));
    const first = await awaitPod(cluster.api, "keeps-0", isUp);
    // A pod is running a moment before its program has written anything.
    await until(
      async () => (await readLog(cluster, "keeps-0")) === "life\n",
      20_000,
      "the first run is logged",
    );
    const template = { metadata: { annotations: { roll: "1" } } };
    cluster.api.mergePatch(STATEFUL_SETS, metadata("keeps"), { spec: { template } });
    const second = await awaitPod(
      cluster.api,
      "keeps-0",
      (pod) => pod.metadata.uid !== first.metadata.uid && isUp(pod),
    );
    assert.equal(second.spec.nodeName, first.spec.nodeName);
    assert.notEqual(second.status?.podIP, first.status?.podIP);
    await until(
      async () => (await readLog(cluster, "keeps-0")) === "life\nlife\n",
      20_000,
      "both runs are in the log",
    );
    await awaitObject(cluster.api, { ref: STATEFUL_SETS, name: "keeps" }, ({ status }) => {
      return status?.["updatedReplicas"] === 1 && status["currentRevision"] === status["updateRevision"];
    });
  });
});

describe("a claim", () => {
  it("is bound for its first pod, kept while a pod uses it, and deleted with its folder", async () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    cluster.api.create(CLAIMS, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: metadata("lone"),
      spec,
    });
    const target = { ref: CLAIMS, name: "lone" };
    await awaitObject(cluster.api, target, (claim) => claim.status?.["phase"] === "Pending");
    const container = { name: "c", image: "sleep", volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "lone" } }];
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: metadata("user"),
      spec: { containers: [container], volumes },
    };
    cluster.api.create(PODS, pod);
    await awaitPod(cluster.api, "user", isUp);
    const volumeName = String(cluster.api.get(CLAIMS, "lone", NAMESPACE).spec?.["volumeName"]);
    assert.equal(cluster.api.get(VOLUMES, volumeName).status?.["phase"], "Bound");
    const folders = () =>
      readdirSync(join(cluster.dataDir, "volumes")).filter((one) => one.startsWith("default-lone-"));
    assert.equal(folders().length, 1);
    cluster.api.delete(CLAIMS, metadata("lone"));
    assert.ok(cluster.api.find(CLAIMS, "lone", NAMESPACE), "a claim in use is kept");
    cluster.api.delete(PODS, metadata("user"), { gracePeriodSeconds: 0 });
    await until(
      () => {
        return (
          cluster.api.find(CLAIMS, "lone", NAMESPACE) === undefined &&
          cluster.api.find(VOLUMES, volumeName) === undefined
        );
      },
      20_000,
      "claim and volume are gone",
    );
    assert.deepEqual(folders(), []);
  });
});

describe("a Job", () => {
  const job = (name: string, script: string, spec: Record<string, unknown> = {}): KubeObject => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadata(name),
    spec: {
      template: {
        spec: {
          restartPolicy: "Never",
          terminationGracePeriodSeconds: 1,
          containers: [{ name: "c", image: "sh", args: [script] }],
        },
      },
      ...spec,
    },
  });
  const ended = (name: string, type: string) =>
    awaitObject(cluster.api, { ref: JOBS, name }, (one) =>
      ((one.status?.["conditions"] ?? []) as { type: string }[]).some((condition) => condition.type === type),
    );

  it("is complete when its pod succeeded, and its pod is kept with its log", async () => {
    cluster.api.create(JOBS, job("good", "echo done"));
    const { status } = await ended("good", "Complete");
    assert.deepEqual([status?.["succeeded"], status?.["failed"] ?? 0, status?.["active"] ?? 0], [1, 0, 0]);
    assert.equal(await readLog(cluster, podsOf("good-")[0]?.metadata.name ?? ""), "done\n");
  });

  it("retries up to its backoff limit and then fails", async () => {
    cluster.api.create(JOBS, job("bad", "exit 1", { backoffLimit: 1 }));
    const { status } = await ended("bad", "Failed");
    assert.equal(status?.["failed"], 2);
    assert.equal(podsOf("bad-").length, 2);
  });

  it("fails at its deadline and ends its pod", async () => {
    cluster.api.create(JOBS, job("late", "sleep 1000", { activeDeadlineSeconds: 1 }));
    const { status } = await ended("late", "Failed");
    const reasons = ((status?.["conditions"] ?? []) as { reason: string }[]).map((one) => one.reason);
    assert.deepEqual(reasons, ["DeadlineExceeded", "DeadlineExceeded"]);
    assert.equal(podsOf("late-").length, 0);
  });

  it("without retries fails when its pod is deleted, instead of running twice", async () => {
    cluster.api.create(JOBS, job("once", "sleep 1000", { backoffLimit: 0 }));
    await until(() => podsOf("once-").some((pod) => pod.status?.phase === "Running"), 20_000, "the pod runs");
    cluster.api.delete(PODS, metadata(podsOf("once-")[0]?.metadata.name ?? ""));
    const { status } = await ended("once", "Failed");
    assert.equal(status?.["failed"], 1);
  });

  it("is removed with its pods when its time to live has passed", async () => {
    cluster.api.create(JOBS, job("short", "true", { ttlSecondsAfterFinished: 0 }));
    await until(
      () => {
        return cluster.api.find(JOBS, "short", NAMESPACE) === undefined && podsOf("short-").length === 0;
      },
      20_000,
      "job and pods are gone",
    );
  });
});

describe("a Service", () => {
  const ask = (host: string, port: number) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ host, port, allowHalfOpen: true }, () => socket.end("hello"));
      let all = "";
      socket.on("data", (part) => {
        all += part.toString("utf8");
      });
      socket.on("end", () => resolve(all));
      socket.on("error", reject);
      socket.setTimeout(5000, () => socket.destroy(new Error("no answer in 5 s")));
    });

  it("carries traffic to a ready pod and refuses connections when there is none", async () => {
    const labels = { app: "net" };
    const spec = { selector: labels, ports: [{ name: "game", port: 25565, targetPort: "game" }] };
    cluster.api.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata: metadata("net"), spec });
    const host = String(cluster.api.get(SERVICES, "net", NAMESPACE).spec?.["clusterIP"]);
    await assert.rejects(ask(host, 25565), { code: "ECONNREFUSED" });
    const container = {
      name: "c",
      image: "server",
      ports: [{ name: "game", containerPort: 7000 }],
      readinessProbe: { tcpSocket: { port: "game" }, periodSeconds: 1 },
    };
    cluster.api.create(DEPLOYMENTS, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata("net"),
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 2, containers: [container] },
        },
      },
    });
    await awaitObject(
      cluster.api,
      { ref: DEPLOYMENTS, name: "net" },
      (one) => statusNumber(one, "readyReplicas") === 1,
    );
    const answer = await until(() => ask(host, 25565).catch(() => undefined), 20_000, "the service answers");
    assert.equal(answer, `${podsOf("net-")[0]?.metadata.name} hello`);
    cluster.api.mergePatch(DEPLOYMENTS, metadata("net"), { spec: { replicas: 0 } });
    await until(() => podsOf("net-").length === 0, 20_000, "no pod is left");
    await awaitObject(
      cluster.api,
      { ref: ENDPOINTS, name: "net" },
      (one) => ((one["subsets"] ?? []) as unknown[]).length === 0,
    );
    const refusal = () =>
      ask(host, 25565).then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code,
      );
    assert.equal(await until(refusal, 20_000, "connections are refused"), "ECONNREFUSED");
  });
});

describe("a Deployment", () => {
  it("replaces its pods when the template changes", async () => {
    const labels = { app: "roll" };
    cluster.api.create(DEPLOYMENTS, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata("roll"),
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image: "sleep" }] },
        },
      },
    });
    const target = { ref: DEPLOYMENTS, name: "roll" };
    const rolled = (one: KubeObject) =>
      one.status?.["observedGeneration"] === one.metadata.generation &&
      statusNumber(one, "updatedReplicas") === 2 &&
      statusNumber(one, "readyReplicas") === 2 &&
      statusNumber(one, "replicas") === 2;
    await awaitObject(cluster.api, target, rolled);
    const before = podsOf("roll-").map((pod) => pod.metadata.uid);
    cluster.api.mergePatch(DEPLOYMENTS, metadata("roll"), {
      spec: { template: { metadata: { annotations: { v: "2" } } } },
    });
    await awaitObject(cluster.api, target, rolled);
    await until(() => podsOf("roll-").length === 2, 20_000, "the old pods are gone");
    assert.ok(podsOf("roll-").every((pod) => !before.includes(pod.metadata.uid)));
  });
});

describe("a Namespace", () => {
  it("is removed after its content", async () => {
    cluster.api.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "brief" } });
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "brief" },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image: "sleep" }] },
    };
    cluster.api.create(PODS, pod);
    await until(
      () => (cluster.api.find(PODS, "p", "brief") as Pod | undefined)?.status?.phase === "Running",
      20_000,
      "the pod runs",
    );
    cluster.api.delete(NAMESPACES, { name: "brief" });
    await until(() => cluster.api.find(NAMESPACES, "brief") === undefined, 20_000, "the namespace is gone");
    assert.equal(cluster.api.find(PODS, "p", "brief"), undefined);
  });
});
