import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { applyDefaults, prune, type StructuralSchema, validate } from "./structural.ts";

const schema: StructuralSchema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-z]+$" },
    size: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    ratio: { type: "number", minimum: 0, exclusiveMinimum: true, multipleOf: 0.5 },
    at: { type: "string", format: "date-time" },
    kind: { type: "string", enum: ["a", "b"] },
    port: { "x-kubernetes-int-or-string": true },
    gone: { type: "string", nullable: true },
    tags: { type: "array", maxItems: 2, items: { type: "string" } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    nested: { type: "object", properties: { on: { type: "boolean", default: true } } },
  },
};

test("pruning removes unknown fields at every depth and keeps free-form ones", () => {
  const value = { name: "ab", other: 1, nested: { on: false, x: 1 }, free: { x: 1 }, labels: { a: "b" } };
  assert.deepEqual(prune(schema, value), {
    name: "ab",
    nested: { on: false },
    free: { x: 1 },
    labels: { a: "b" },
  });
});

test("defaults fill missing fields and replace a null that is not allowed", () => {
  assert.deepEqual(applyDefaults(schema, { size: null, nested: {} }), { size: 3, nested: { on: true } });
  assert.deepEqual(applyDefaults(schema, { size: 5 }), { size: 5 });
});

test("a default is a copy that later writes do not share", () => {
  const withList: StructuralSchema = { type: "object", properties: { list: { type: "array", default: [] } } };
  const first = applyDefaults(withList, {}) as { list: unknown[] };
  first.list.push(1);
  assert.deepEqual(applyDefaults(withList, {}), { list: [] });
});

describe("a schema rejects", () => {
  const valid = { name: "abc" };
  const cases: [fact: string, change: object, field: string, reason: string][] = [
    ["a missing required field", { name: undefined }, "name", "FieldValueRequired"],
    ["a string that is too short", { name: "a" }, "name", "FieldValueInvalid"],
    ["a string that is too long", { name: "abcdef" }, "name", "FieldValueInvalid"],
    ["a string that does not match its pattern", { name: "AB" }, "name", "FieldValueInvalid"],
    ["a value of another type", { size: "3" }, "size", "FieldValueInvalid"],
    ["a fraction for an integer", { size: 1.5 }, "size", "FieldValueInvalid"],
    ["a number below its minimum", { size: 0 }, "size", "FieldValueInvalid"],
    ["a number above its maximum", { size: 10 }, "size", "FieldValueInvalid"],
    ["a number at its exclusive minimum", { ratio: 0 }, "ratio", "FieldValueInvalid"],
    ["a number that is not a multiple", { ratio: 0.3 }, "ratio", "FieldValueInvalid"],
    ["a malformed time", { at: "yesterday" }, "at", "FieldValueInvalid"],
    ["a value outside its enumeration", { kind: "c" }, "kind", "FieldValueNotSupported"],
    ["an object for an int-or-string", { port: {} }, "port", "FieldValueInvalid"],
    ["a list with an item of another type", { tags: [1] }, "tags[0]", "FieldValueInvalid"],
    ["a map with a value of another type", { labels: { a: 1 } }, "labels.a", "FieldValueInvalid"],
    ["a null where none is allowed", { size: null }, "size", "FieldValueInvalid"],
  ];
  for (const [fact, change, field, reason] of cases) {
    test(fact, () => {
      const causes = validate(schema, { ...valid, ...change });
      assert.deepEqual(
        causes.map((cause) => [cause.field, cause.reason]),
        [[field, reason]],
      );
    });
  }

  test("a list with too many items", () => {
    assert.equal(validate(schema, { ...valid, tags: ["a", "b", "c"] }).length, 1);
  });
});

test("a schema accepts values within its rules", () => {
  const value = { name: "abc", size: 1, ratio: 0.5, at: "2026-01-01T00:00:00Z", kind: "a", gone: null };
  assert.deepEqual(validate(schema, { ...value, port: "http", tags: ["a"] }), []);
  assert.deepEqual(validate(schema, { ...value, port: 80 }), []);
});

test("anyOf needs one match, oneOf exactly one, not none", () => {
  const small = { maximum: 5 };
  const large = { minimum: 3 };
  assert.equal(validate({ anyOf: [{ type: "integer" }, { type: "string" }] }, true).length, 1);
  assert.equal(validate({ oneOf: [small, large] }, 4).length, 1);
  assert.equal(validate({ oneOf: [small, large] }, 2).length, 0);
  assert.equal(validate({ not: small }, 2).length, 1);
});
