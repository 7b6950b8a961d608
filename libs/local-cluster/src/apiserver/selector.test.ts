import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesLabelSelector, parseFieldSelector, parseLabelSelector, selectedName } from "./selector.ts";

function labelled(labels: Record<string, string>) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "x", namespace: "n", labels },
    status: { phase: "Running" },
  };
}

test("a label selector requires all of its requirements", () => {
  const accepts = parseLabelSelector("app=x, tier in (a,b),!old, example.svc/k!=v");
  assert.equal(accepts?.(labelled({ app: "x", tier: "a" })), true);
  assert.equal(accepts?.(labelled({ app: "x", tier: "c" })), false);
  assert.equal(accepts?.(labelled({ app: "x", tier: "a", old: "" })), false);
  assert.equal(accepts?.(labelled({ app: "x", tier: "a", "example.svc/k": "v" })), false);
  assert.equal(parseLabelSelector(""), undefined);
});

test("a label selector object supports labels and expressions", () => {
  const selector = {
    matchLabels: { app: "x" },
    matchExpressions: [{ key: "tier", operator: "NotIn", values: ["z"] }],
  };
  assert.equal(matchesLabelSelector(selector, { app: "x" }), true);
  assert.equal(matchesLabelSelector(selector, { app: "x", tier: "z" }), false);
});

test("a field selector matches fields of the object, and metadata.name makes a list a lookup", () => {
  const accepts = parseFieldSelector("status.phase=Running,spec.nodeName!=a", "/pods");
  assert.equal(accepts?.(labelled({})), true);
  assert.equal(selectedName("metadata.namespace=n,metadata.name=x"), "x");
  assert.equal(selectedName("metadata.name!=x"), undefined);
});

test("a selector that does not parse is rejected", () => {
  for (const text of ["a in (", "a=b c", "-a=b", "a in b"])
    assert.throws(() => parseLabelSelector(text), { code: 400 }, text);
  assert.throws(() => parseFieldSelector("spec.other=1", "/pods"), { code: 400 });
});
