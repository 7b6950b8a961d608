import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import type { CustomResourceDefinition, Node, Pod } from "@svc/kube";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { readValues } from "../../manifests/values/read.ts";
import { definitionFile } from "../definitions.ts";
import { resourceOf } from "../kinds.ts";
import { expectedOf, templateOf } from "./expected.ts";
import { judge, missingIn } from "./judge.ts";
import { nodeFindings } from "./nodes.ts";
import { type Fields, type Found, keyOf, type Observed } from "./observe.ts";
import { explainPod } from "./pods.ts";

const valuesDir = resolve(import.meta.dirname, "../../../../../deploy/values");
const shipped = JSON.parse(readFileSync(definitionFile, "utf8")) as CustomResourceDefinition;
const hints = { prerequisites: "<prerequisites>", objects: "<objects>" };
const expected = expectedOf(readValues());

type Cluster = {
  nodes: Node[];
  pods: Pod[];
  definition: CustomResourceDefinition | undefined;
  objects: Map<string, Found>;
  unserved: Set<string>;
  secretKeys: Map<string, string[]>;
};

const healthyStatus: Record<string, (spec: Fields) => Fields> = {
  Deployment: ({ replicas = 1 }) => ({ readyReplicas: replicas, updatedReplicas: replicas }),
  StatefulSet: ({ replicas = 1 }) => ({ readyReplicas: replicas, updatedReplicas: replicas }),
  Job: () => ({ conditions: [{ type: "Complete", status: "True" }] }),
  CronJob: () => ({ lastScheduleTime: "2026-01-02T00:00:00Z", lastSuccessfulTime: "2026-01-02T00:05:00Z" }),
  PersistentVolumeClaim: () => ({ phase: "Bound" }),
  Service: () => ({ loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } }),
};

/** An installation with the default values in which nothing is wrong. */
function healthy(): Cluster {
  const all = [...expected.prerequisites, ...expected.objects].map((object): [string, Found] => {
    const found = structuredClone(object) as Found;
    found.status = healthyStatus[object.kind]?.(found.spec ?? {}) ?? {};
    return [keyOf(object), found];
  });
  return {
    nodes: [node("n1", "True", { [nodeLabels.role]: "controller" })],
    pods: [],
    definition: { ...shipped, status: { conditions: [{ type: "Established", status: "True" }] } },
    objects: new Map(all),
    unserved: new Set(),
    secretKeys: new Map(expected.secrets.map(({ namespace, name, keys }) => [`${namespace}/${name}`, keys])),
  };
}

function node(name: string, ready: string, labels: Record<string, string> = {}): Node {
  const status = { conditions: [{ type: "Ready", status: ready }] };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, status };
}

function pod(of: string, status: NonNullable<Pod["status"]>): Pod {
  const labels = { "app.kubernetes.io/name": of };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: `${of}-1`, namespace: "svc", labels }, status };
}

const judged = (cluster: Cluster) => {
  const observed: Observed = { version: "v1.33.0", ...cluster };
  return judge({ expected, observed, hints }, shipped);
};

function objectOf(cluster: Cluster, key: string): Found & { spec: Fields; status: Fields } {
  const found = cluster.objects.get(key);
  assert.ok(found, `${key} is one of ${[...cluster.objects.keys()].join(", ")}`);
  return found as Found & { spec: Fields; status: Fields };
}

test("an installation in which nothing is wrong has no problem", () => {
  assert.deepEqual(
    judged(healthy()).filter(({ ok }) => !ok),
    [],
  );
});

const crash = { reason: "Error", exitCode: 7 };
const lifecycle = "Deployment svc/lifecycle";
const waiting = (cluster: Cluster, status: NonNullable<Pod["status"]>) => {
  objectOf(cluster, lifecycle).status["readyReplicas"] = 1;
  cluster.pods.push(pod("lifecycle", status));
};

test("volumes of an earlier release need both labels on their node, and no more", () => {
  const old = { ...expected, nodeLabel: oldNodeLabels.role };
  const said = (labels: Record<string, string>) => {
    const observed = { version: "v1.33.0", ...healthy(), nodes: [node("n1", "True", labels)] };
    return nodeFindings(old, observed).flatMap(({ ok, detail }) => (ok ? [] : [detail]));
  };
  const both = { [nodeLabels.role]: "controller", [oldNodeLabels.role]: "controller" };
  assert.deepEqual(said(both), []);
  assert.deepEqual(said({ [nodeLabels.role]: "controller" }), [
    "no node has the label; run kubectl label node NODE svc.internal/role=controller",
  ]);
});

test("a pod of an earlier release that has ended is no problem", () => {
  const cluster = healthy();
  const spec = { containers: [], nodeSelector: { [oldNodeLabels.identity]: "n1" } };
  cluster.pods.push({ ...pod("backup", { phase: "Succeeded" }), spec });
  assert.ok(judged(cluster).every(({ ok }) => ok));
});

describe("each problem is one finding that says what to do", () => {
  const table: [problem: string, change: (cluster: Cluster) => void, finding: RegExp][] = [
    [
      "no node is ready",
      (c) => (c.nodes = [node("n1", "Unknown", c.nodes[0]?.metadata.labels)]),
      /^nodes: 0 of 1 ready; not ready: n1$/,
    ],
    [
      "no node has the label of the archives",
      (c) => (c.nodes = [node("n1", "True")]),
      /^node of the archives: no node .* kubectl label node NODE/,
    ],
    [
      "a node has labels of an earlier release only",
      (c) => c.nodes.push(node("n2", "True", { [oldNodeLabels.approved]: "true" })),
      /^labels of nodes: those of n2 are of an earlier release and count for nothing; run svc node relabel$/,
    ],
    [
      "a pod was made for a node with an old label",
      (c) =>
        c.pods.push({
          ...pod("survival", { phase: "Running" }),
          spec: { containers: [], nodeSelector: { [oldNodeLabels.identity]: "n1" } },
        }),
      /^pods of an earlier release: survival-1 select their node by .* stop and start these servers once$/,
    ],
    [
      "the Job of a world is taken by no node",
      (c) => {
        const conditions = [{ type: "PodScheduled", status: "False", message: "0/2 nodes are available" }];
        const waits = pod("backup-survival", { phase: "Pending", conditions });
        const labels = { "svc.internal/component": "world-job" };
        c.pods.push({ ...waits, metadata: { ...waits.metadata, labels } });
      },
      /^pods of worlds: backup-survival-1 has no node: 0\/2 nodes are available$/,
    ],
    [
      "a volume of an earlier release is given another label",
      (c) => {
        const { spec } = objectOf(c, "PersistentVolume /svc-uploads");
        spec["nodeAffinity"].required.nodeSelectorTerms[0].matchExpressions[0].key = oldNodeLabels.role;
      },
      /^volume svc-uploads: selects its node by svc\.internal\/role, the values say svc\.node-restriction.*set volumes\.nodeLabel/,
    ],
    [
      "the custom resource is missing",
      (c) => (c.definition = undefined),
      /^custom resource: is missing; run <prerequisites>$/,
    ],
    [
      "the custom resource is of another release",
      (c) =>
        (c.definition = {
          ...shipped,
          spec: { ...shipped.spec, scope: "Cluster" },
          status: { conditions: [{ type: "Established", status: "True" }] },
        }),
      /^custom resource: is of another release \(spec\.scope\); run <prerequisites>$/,
    ],
    [
      "a namespace is missing",
      (c) => c.objects.delete("Namespace /svc-build"),
      /^Namespace svc-build: is missing; run <prerequisites>$/,
    ],
    [
      "an object is missing",
      (c) => c.objects.delete("Service svc/gateway-internal"),
      /^Service gateway-internal: is missing; run <objects>$/,
    ],
    [
      "a kind is not served",
      (c) => c.unserved.add("policy/v1 PodDisruptionBudget"),
      /^API server: does not serve policy\/v1 PodDisruptionBudget; svc needs Kubernetes/,
    ],
    [
      "a Secret is missing",
      (c) => c.secretKeys.delete("svc/svc-nats"),
      /^Secret svc-nats: is missing in svc; docs\/install\.md/,
    ],
    [
      "a Secret lacks a key",
      (c) => c.secretKeys.set("svc/svc-database", ["admin"]),
      /^Secret svc-database: lacks .*lifecycle/,
    ],
    [
      "another release runs",
      (c) => (objectOf(c, lifecycle).spec["template"].spec.containers[0].image = "svc:0.0.9"),
      /^Deployment lifecycle: has the image svc:0\.0\.9, the values say svc:0\.1\.0/,
    ],
    [
      "a rollout goes on",
      (c) => (objectOf(c, lifecycle).status["updatedReplicas"] = 1),
      /^Deployment lifecycle: 1 of 2 are of this release/,
    ],
    [
      "a pod has no node",
      (c) =>
        waiting(c, {
          phase: "Pending",
          conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes: Insufficient memory" }],
        }),
      /^Deployment lifecycle: 1 of 2 ready; lifecycle-1 has no node: 0\/1 nodes: Insufficient memory$/,
    ],
    [
      "an image cannot be pulled",
      (c) =>
        waiting(c, {
          phase: "Pending",
          containerStatuses: [
            {
              name: "lifecycle",
              restartCount: 0,
              state: { waiting: { reason: "ImagePullBackOff", message: "not found" } },
            },
          ],
        }),
      /ImagePullBackOff, not found; is the image in a registry that nodes reach/,
    ],
    [
      "a container ends again and again",
      (c) =>
        waiting(c, {
          phase: "Running",
          containerStatuses: [
            {
              name: "lifecycle",
              restartCount: 4,
              state: { waiting: { reason: "CrashLoopBackOff" } },
              lastState: { terminated: crash },
            },
          ],
        }),
      /^Deployment lifecycle: 1 of 2 ready, 4 restarts; lifecycle-1: lifecycle ends again and again, the last time with exit code 7/,
    ],
    [
      "a container needs more memory",
      (c) =>
        waiting(c, {
          phase: "Running",
          containerStatuses: [
            {
              name: "lifecycle",
              restartCount: 1,
              lastState: { terminated: { reason: "OOMKilled", exitCode: 137 } },
            },
          ],
        }),
      /needed more memory than its limit; raise resources\.memoryLimit/,
    ],
    [
      "a pod is not ready and nobody knows why",
      (c) => (objectOf(c, lifecycle).status["readyReplicas"] = 0),
      /^Deployment lifecycle: 0 of 2 ready; wait, or see kubectl describe$/,
    ],
    [
      "a claim is not bound",
      (c) => (objectOf(c, "PersistentVolumeClaim svc/svc-archive").status = {}),
      /^claim svc-archive: is Pending; see kubectl -n svc describe pvc svc-archive$/,
    ],
    [
      "the run of a CronJob failed",
      (c) => (objectOf(c, "CronJob svc/svc-reaper").status["lastSuccessfulTime"] = "2026-01-01T00:05:00Z"),
      /^CronJob svc-reaper: the run of 2026-01-02T00:00:00Z failed/,
    ],
    [
      "a CronJob is suspended",
      (c) => (objectOf(c, "CronJob svc/svc-reaper").spec["suspend"] = true),
      /^CronJob svc-reaper: is suspended$/,
    ],
    [
      "players have no address",
      (c) => (objectOf(c, "Service svc/proxy").status = {}),
      /^Service proxy: no address yet/,
    ],
  ];
  for (const [problem, change, finding] of table)
    test(problem, () => {
      const cluster = healthy();
      change(cluster);
      const problems = judged(cluster).filter(({ ok }) => !ok);
      assert.equal(problems.length, 1, JSON.stringify(problems));
      assert.match(problems.map(({ check, detail }) => `${check}: ${detail}`).join(), finding);
    });

  test("a migration that is under way, and one that has failed", () => {
    const cluster = healthy();
    const [key = ""] = [...cluster.objects.keys()].filter((one) => one.startsWith("Job svc/svc-migrate-"));
    const job = objectOf(cluster, key);
    const detail = () => judged(cluster).find(({ check }) => check.startsWith("Job "))?.detail ?? "";
    job.status = {};
    job.spec["selector"] = { matchLabels: { "app.kubernetes.io/name": "migrate" } };
    assert.match(detail(), /^is not complete: it is under way; see kubectl -n svc logs job\/svc-migrate-/);
    cluster.pods.push(
      pod("migrate", {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", message: "no room" }],
      }),
    );
    assert.match(detail(), /^is not complete: migrate-1 has no node: no room/);
    job.status = { conditions: [{ type: "Failed", status: "True", message: "BackoffLimitExceeded" }] };
    assert.match(detail(), /^has failed: BackoffLimitExceeded; see/);
  });
});

test("a pod that is deleted, has ended well or is ready needs no word", () => {
  const ready = pod("a", { phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
  const gone = pod("a", { phase: "Pending" });
  gone.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  assert.deepEqual([ready, gone, pod("a", { phase: "Succeeded" })].map(explainPod), [
    undefined,
    undefined,
    undefined,
  ]);
});

test("fields that an API server adds are no difference", () => {
  assert.equal(missingIn({ a: [{ b: 1, added: 2 }] }, { a: [{ b: 1 }] }), undefined);
  assert.equal(missingIn({ a: [{ b: 1 }] }, { a: [{ b: 1 }, { c: 2 }] }), "spec.a[1].c");
});

for (const file of readdirSync(valuesDir))
  test(`every object of ${file} can be read, and its pods name their Secrets`, () => {
    const { objects, prerequisites, secrets } = expectedOf(readValues(join(valuesDir, file)));
    for (const object of [...prerequisites, ...objects]) assert.ok(resourceOf(object).plural);
    assert.ok(objects.filter((object) => templateOf(object)).length > 8);
    const names = secrets.map(({ name }) => name);
    for (const name of ["svc-nats", "svc-database", "svc-tokens", "svc-forwarding"])
      assert.ok(names.includes(name), name);
  });
