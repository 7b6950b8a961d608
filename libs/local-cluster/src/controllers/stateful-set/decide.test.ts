import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pod } from "../objects.ts";
import type { StatefulSet } from "./decide.ts";
import { decide, revisionOf } from "./decide.ts";

function setOf(spec: Partial<StatefulSet["spec"]> = {}): StatefulSet {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "web", namespace: "games", uid: "set-uid", generation: 4 },
    spec: {
      replicas: 2,
      serviceName: "web-hl",
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "c", image: "game" }] },
      },
      volumeClaimTemplates: [{ metadata: { name: "world" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      ...spec,
    },
  };
}

type PodOptions = { ready?: boolean; terminating?: boolean; revision?: string; phase?: "Failed" | "Running" };

function podOf(set: StatefulSet, ordinal: number, options: PodOptions = {}): Pod {
  const { ready = true, terminating = false, revision = revisionOf(set), phase = "Running" } = options;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `web-${ordinal}`,
      namespace: "games",
      labels: { "controller-revision-hash": revision },
      ...(terminating ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { containers: [] },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

const plan = (set: StatefulSet, pods: Pod[], dying: string[] = []) => {
  const { create, claims, delete: gone, status } = decide({ set, pods, dyingClaims: new Set(dying) });
  const names = (list: { metadata: { name: string } }[]) => list.map((one) => one.metadata.name);
  return { create: names(create), claims: names(claims), delete: names(gone), status };
};

describe("a StatefulSet", () => {
  it("creates one ordinal at a time, each with its claim", () => {
    const { create, claims } = plan(setOf(), []);
    assert.deepEqual([create, claims], [["web-0"], ["world-web-0"]]);
  });

  it("waits until an ordinal is ready before it creates the next one", () => {
    const set = setOf();
    assert.deepEqual(plan(set, [podOf(set, 0, { ready: false })]).create, []);
    assert.deepEqual(plan(set, [podOf(set, 0)]).create, ["web-1"]);
  });

  it("creates all ordinals at once when the pod management policy is Parallel", () => {
    assert.deepEqual(plan(setOf({ podManagementPolicy: "Parallel" }), []).create, ["web-0", "web-1"]);
  });

  it("does not create a pod while its claim is being deleted", () => {
    assert.deepEqual(plan(setOf(), [], ["world-web-0"]).create, []);
  });

  it("scales down from the highest ordinal, one at a time", () => {
    const set = setOf({ replicas: 1 });
    const pods = [podOf(set, 0), podOf(set, 1), podOf(set, 2)];
    assert.deepEqual(plan(set, pods).delete, ["web-2"]);
    assert.deepEqual(plan(set, [...pods.slice(0, 2), podOf(set, 2, { terminating: true })]).delete, []);
  });

  it("removes an unready pod when it scales down to zero", () => {
    const set = setOf({ replicas: 0 });
    assert.deepEqual(plan(set, [podOf(set, 0, { ready: false })]).delete, ["web-0"]);
  });

  it("replaces the highest pod of an old revision first and waits for the new one", () => {
    const set = setOf();
    const old = { revision: "web-old" };
    assert.deepEqual(plan(set, [podOf(set, 0, old), podOf(set, 1, old)]).delete, ["web-1"]);
    assert.deepEqual(plan(set, [podOf(set, 0, old), podOf(set, 1, { ready: false })]).delete, []);
    assert.deepEqual(plan(set, [podOf(set, 0, old), podOf(set, 1)]).delete, ["web-0"]);
  });

  it("keeps pods of an old revision with OnDelete and below the partition", () => {
    const old = { revision: "web-old" };
    const onDelete = setOf({ updateStrategy: { type: "OnDelete" } });
    assert.deepEqual(plan(onDelete, [podOf(onDelete, 0, old), podOf(onDelete, 1, old)]).delete, []);
    const partition = setOf({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } });
    assert.deepEqual(plan(partition, [podOf(partition, 0, old), podOf(partition, 1)]).delete, []);
  });

  it("deletes a failed pod so that it is created again", () => {
    const set = setOf();
    assert.deepEqual(plan(set, [podOf(set, 0, { phase: "Failed", ready: false })]).delete, ["web-0"]);
  });

  it("keeps the current revision until every pod is updated and ready", () => {
    const set = { ...setOf(), status: { currentRevision: "web-old" } };
    const rolling = plan(set, [podOf(set, 0, { revision: "web-old" }), podOf(set, 1)]).status;
    assert.equal(rolling["currentRevision"], "web-old");
    assert.deepEqual(
      [rolling["updatedReplicas"], rolling["currentReplicas"], rolling["observedGeneration"]],
      [1, 1, 4],
    );
    assert.equal(plan(set, [podOf(set, 0), podOf(set, 1)]).status["currentRevision"], revisionOf(set));
  });

  it("gives the pod its name, its claim and its labels", () => {
    const set = setOf();
    const [pod] = decide({ set, pods: [], dyingClaims: new Set() }).create;
    assert.equal(pod?.metadata.labels?.["statefulset.kubernetes.io/pod-name"], "web-0");
    assert.equal(pod?.spec.hostname, "web-0");
    assert.equal(pod?.spec.subdomain, "web-hl");
    assert.deepEqual(pod?.spec.volumes, [
      { name: "world", persistentVolumeClaim: { claimName: "world-web-0" } },
    ]);
  });

  it("has the same revision regardless of the field order of its template", () => {
    const one = setOf({ template: { spec: { containers: [{ name: "c", image: "i" }], hostname: "h" } } });
    const two = setOf({ template: { spec: { hostname: "h", containers: [{ image: "i", name: "c" }] } } });
    assert.equal(revisionOf(one), revisionOf(two));
  });
});
