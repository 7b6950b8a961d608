import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  hasOutdatedLabels,
  nodeLabels,
  oldNodeLabels,
  outdatedLabelsOf,
  protectedKeyOf,
} from "./node-labels.ts";

test("every label that svc trusts is of a domain that NodeRestriction protects", () => {
  for (const key of Object.values(nodeLabels)) {
    assert.match(key, /^([a-z0-9-]+\.)*node-restriction\.kubernetes\.io\/[a-z]+$/);
    assert.ok((key.split("/")[0] ?? "").length <= 253);
  }
});

test("an old key is read as the protected one, any other as it is", () => {
  assert.equal(protectedKeyOf(oldNodeLabels.role), nodeLabels.role);
  assert.equal(protectedKeyOf(nodeLabels.role), nodeLabels.role);
  assert.equal(protectedKeyOf("kubernetes.io/hostname"), "kubernetes.io/hostname");
});

describe("the labels that a node has under their old name only", () => {
  const table: [string, Record<string, string> | undefined, Record<string, string>][] = [
    ["are none without labels", undefined, {}],
    ["are none where nothing is old", { [nodeLabels.role]: "worker" }, {}],
    [
      "are all of an earlier release",
      { [oldNodeLabels.identity]: "a", [oldNodeLabels.approved]: "true" },
      { [nodeLabels.identity]: "a", [nodeLabels.approved]: "true" },
    ],
    [
      "are not those that have a protected one, whatever it says",
      { [oldNodeLabels.identity]: "b", [nodeLabels.identity]: "a", [oldNodeLabels.role]: "worker" },
      { [nodeLabels.role]: "worker" },
    ],
  ];
  for (const [fact, labels, wanted] of table)
    test(fact, () => {
      assert.deepEqual(outdatedLabelsOf(labels), wanted);
      assert.equal(hasOutdatedLabels(labels), Object.keys(wanted).length > 0);
    });
});
