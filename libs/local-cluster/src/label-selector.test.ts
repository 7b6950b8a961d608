import assert from "node:assert/strict";
import { test } from "node:test";
import { hasLabels, meetsRequirement } from "./label-selector.ts";

const labels = { tier: "db", cores: "4" };
const facts: [fact: string, operator: string, key: string, values: string[], met: boolean][] = [
  ["In with a listed value", "In", "tier", ["web", "db"], true],
  ["In with another value", "In", "tier", ["web"], false],
  ["In without the label", "In", "none", ["db"], false],
  ["NotIn with a listed value", "NotIn", "tier", ["db"], false],
  ["NotIn without the label", "NotIn", "none", ["db"], true],
  ["Exists with the label", "Exists", "tier", [], true],
  ["Exists for an inherited property", "Exists", "toString", [], false],
  ["DoesNotExist without the label", "DoesNotExist", "none", [], true],
  ["Gt with a larger number", "Gt", "cores", ["3"], true],
  ["Gt with an equal number", "Gt", "cores", ["4"], false],
  ["Lt with a smaller number", "Lt", "cores", ["5"], true],
  ["Lt without the label", "Lt", "none", ["5"], false],
  ["an unknown operator", "Near", "tier", ["db"], false],
];
for (const [fact, operator, key, values, met] of facts) {
  test(`${fact} is ${met ? "met" : "not met"}`, () =>
    assert.equal(meetsRequirement(labels, { key, operator, values }), met));
}

test("all labels of a selector must match; an empty selector matches everything", () => {
  assert.equal(hasLabels(labels, { tier: "db", cores: "4" }), true);
  assert.equal(hasLabels(labels, { tier: "db", cores: "5" }), false);
  assert.equal(hasLabels(undefined, undefined), true);
});
