import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DeleteOptions, KubeObject } from "../../cluster-api.ts";
import { builtinTypes } from "../kinds/builtin.ts";
import type { ResourceType } from "../resource-type.ts";
import { checkPreconditions, type DeletionPlan, planDeletion } from "./deletion.ts";

const now = new Date("2026-01-01T00:00:00Z");

function typeOf(storageKey: string): ResourceType {
  const type = builtinTypes.find((one) => one.storageKey === storageKey);
  assert.ok(type);
  return type;
}

function objectOf(
  parts: Partial<KubeObject> = {},
  metadata: Partial<KubeObject["metadata"]> = {},
): KubeObject {
  return { apiVersion: "v1", kind: "Any", ...parts, metadata: { name: "x", uid: "u", ...metadata } };
}

const bound = { spec: { nodeName: "local-1" } };
const marked = { deletionTimestamp: "2026-01-01T00:00:30Z", deletionGracePeriodSeconds: 30 };

type Case = {
  fact: string;
  type: string;
  object: KubeObject;
  options?: DeleteOptions;
  hasDependents?: boolean;
  step: DeletionPlan["step"];
  finalizers?: string[];
  graceSeconds?: number;
};

const cases: Case[] = [
  {
    fact: "an object without finalizers is removed at once",
    type: "/configmaps",
    object: objectOf(),
    step: "remove",
  },
  {
    fact: "a finalizer keeps an object",
    type: "/configmaps",
    object: objectOf({}, { finalizers: ["a/b"] }),
    step: "mark",
    finalizers: ["a/b"],
  },
  {
    fact: "a second delete of an object with a finalizer changes nothing",
    type: "/configmaps",
    object: objectOf({}, { finalizers: ["a/b"], deletionTimestamp: "x", deletionGracePeriodSeconds: 0 }),
    step: "wait",
  },
  {
    fact: "a foreground delete waits for dependents",
    type: "apps/statefulsets",
    object: objectOf(),
    options: { propagationPolicy: "Foreground" },
    hasDependents: true,
    step: "mark",
    finalizers: ["foregroundDeletion"],
  },
  {
    fact: "a foreground delete without dependents removes the object at once",
    type: "apps/statefulsets",
    object: objectOf(),
    options: { propagationPolicy: "Foreground" },
    step: "remove",
  },
  {
    fact: "a delete of a Job orphans its pods by default",
    type: "batch/jobs",
    object: objectOf(),
    hasDependents: true,
    step: "mark",
    finalizers: ["orphan"],
  },
  {
    fact: "a background delete of a Job removes it at once",
    type: "batch/jobs",
    object: objectOf(),
    options: { propagationPolicy: "Background" },
    hasDependents: true,
    step: "remove",
  },
  {
    fact: "a pod without a node is removed at once",
    type: "/pods",
    object: objectOf({ spec: {} }),
    step: "remove",
  },
  {
    fact: "a bound pod has a grace period of 30 s",
    type: "/pods",
    object: objectOf(bound),
    step: "mark",
    graceSeconds: 30,
  },
  {
    fact: "a bound pod has its own grace period",
    type: "/pods",
    object: objectOf({ spec: { ...bound.spec, terminationGracePeriodSeconds: 7 } }),
    step: "mark",
    graceSeconds: 7,
  },
  {
    fact: "a delete may shorten the grace period",
    type: "/pods",
    object: objectOf(bound, marked),
    options: { gracePeriodSeconds: 5 },
    step: "mark",
    graceSeconds: 5,
  },
  {
    fact: "a delete can't extend the grace period",
    type: "/pods",
    object: objectOf(bound, marked),
    options: { gracePeriodSeconds: 60 },
    step: "wait",
  },
  {
    fact: "grace 0 removes a bound pod",
    type: "/pods",
    object: objectOf(bound, marked),
    options: { gracePeriodSeconds: 0 },
    step: "remove",
  },
  {
    fact: "a finished pod is removed at once",
    type: "/pods",
    object: objectOf({ ...bound, status: { phase: "Succeeded" } }),
    step: "remove",
  },
  {
    fact: "a namespace with content is kept",
    type: "/namespaces",
    object: objectOf({ spec: { finalizers: ["kubernetes"] } }),
    step: "mark",
  },
];

describe("deleting", () => {
  for (const { fact, type, object, options = {}, hasDependents = false, step, ...expected } of cases) {
    test(fact, () => {
      const plan = planDeletion(typeOf(type), object, { options, hasDependents, now });
      assert.equal(plan.step, step);
      if (expected.finalizers) assert.deepEqual(plan.object.metadata.finalizers, expected.finalizers);
      if (expected.graceSeconds !== undefined) {
        const endsAt = new Date(now.getTime() + expected.graceSeconds * 1000);
        assert.equal(plan.object.metadata.deletionTimestamp, endsAt.toISOString().replace(".000", ""));
      }
    });
  }

  test("a namespace that is deleted is Terminating", () => {
    const object = objectOf({ spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } });
    const plan = planDeletion(typeOf("/namespaces"), object, { options: {}, hasDependents: false, now });
    assert.equal(plan.object.status?.["phase"], "Terminating");
  });

  test("a uid or version other than expected is 409", () => {
    const type = typeOf("/configmaps");
    const object = objectOf({}, { resourceVersion: "5" });
    checkPreconditions(type, object, { preconditions: { uid: "u", resourceVersion: "5" } });
    for (const preconditions of [{ uid: "other" }, { resourceVersion: "4" }])
      assert.throws(() => checkPreconditions(type, object, { preconditions }), { code: 409 });
  });
});
