import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Deployment } from "./decide.ts";
import { decide } from "./decide.ts";
import type { ReplicaSet } from "./replica-set.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

function deploymentOf(spec: Partial<Deployment["spec"]> = {}): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "gate", namespace: "games", uid: "d" },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "gate" } },
      template: { metadata: { labels: { app: "gate" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      ...spec,
    },
  };
}

/** The ReplicaSet of the current template, or with `hash` one of an older template. */
function setOf(
  deployment: Deployment,
  sizes: { replicas: number; ready: number; hash?: string },
): ReplicaSet {
  const [made] = decide(deployment, [], NOW_MS).create;
  assert.ok(made);
  const hash = sizes.hash ?? made.metadata.labels?.["pod-template-hash"] ?? "";
  return {
    ...made,
    metadata: { ...made.metadata, name: `gate-${hash}`, labels: { "pod-template-hash": hash } },
    spec: { ...made.spec, replicas: sizes.replicas },
    status: { replicas: sizes.replicas, readyReplicas: sizes.ready },
  };
}

const scaled = (deployment: Deployment, sets: ReplicaSet[]) =>
  Object.fromEntries(
    decide(deployment, sets, NOW_MS).scale.map(({ set, replicas }) => [
      set.metadata.labels?.["pod-template-hash"] === "old" ? "old" : "new",
      replicas,
    ]),
  );

describe("a Deployment", () => {
  it("creates a ReplicaSet of full size when it has none", () => {
    const { create } = decide(deploymentOf(), [], NOW_MS);
    assert.equal(create[0]?.spec.replicas, 4);
    assert.equal(create[0]?.spec.selector?.matchLabels?.["app"], "gate");
  });

  it("rolls within a quarter above and a quarter below its size", () => {
    const deployment = deploymentOf();
    const old = setOf(deployment, { replicas: 4, ready: 4, hash: "old" });
    assert.equal(decide(deployment, [old], NOW_MS).create[0]?.spec.replicas, 1);
    const begun = [old, setOf(deployment, { replicas: 1, ready: 0 })];
    assert.deepEqual(scaled(deployment, begun), { old: 3 });
    const further = [
      setOf(deployment, { replicas: 3, ready: 3, hash: "old" }),
      setOf(deployment, { replicas: 1, ready: 1 }),
    ];
    assert.deepEqual(scaled(deployment, further), { old: 2, new: 2 });
  });

  it("removes unready old pods first", () => {
    const deployment = deploymentOf();
    const sets = [
      setOf(deployment, { replicas: 4, ready: 1, hash: "old" }),
      setOf(deployment, { replicas: 1, ready: 0 }),
    ];
    assert.deepEqual(scaled(deployment, sets), { old: 1 });
  });

  it("ends all old pods before it starts new ones when the strategy is Recreate", () => {
    const deployment = deploymentOf({ strategy: { type: "Recreate" } });
    const old = setOf(deployment, { replicas: 4, ready: 4, hash: "old" });
    assert.equal(decide(deployment, [old], NOW_MS).create[0]?.spec.replicas, 0);
    const gone = [
      setOf(deployment, { replicas: 0, ready: 0, hash: "old" }),
      setOf(deployment, { replicas: 0, ready: 0 }),
    ];
    assert.deepEqual(scaled(deployment, gone), { new: 4 });
  });

  it("keeps a limited number of old ReplicaSets", () => {
    const deployment = deploymentOf({ revisionHistoryLimit: 0 });
    const sets = [
      setOf(deployment, { replicas: 0, ready: 0, hash: "old" }),
      setOf(deployment, { replicas: 4, ready: 4 }),
    ];
    assert.deepEqual(
      decide(deployment, sets, NOW_MS).delete.map((set) => set.metadata.name),
      ["gate-old"],
    );
  });

  it("is available while enough pods are ready and progresses until the old ones are gone", () => {
    const deployment = deploymentOf();
    const done = decide(deployment, [setOf(deployment, { replicas: 4, ready: 4 })], NOW_MS).status;
    const facts = (done["conditions"] as { type: string; status: string; reason: string }[]).map(
      ({ type, status, reason }) => `${type} ${status} ${reason}`,
    );
    assert.deepEqual(facts, [
      "Available True MinimumReplicasAvailable",
      "Progressing True NewReplicaSetAvailable",
    ]);
  });
});
