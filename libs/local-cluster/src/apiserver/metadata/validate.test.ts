import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ObjectMeta } from "../../cluster-api.ts";
import { builtinTypes } from "../kinds/builtin.ts";
import { generateName } from "./names.ts";
import { validateMetadata, validateMetadataUpdate } from "./validate.ts";

const objectOf = (metadata: Partial<ObjectMeta>) => ({
  ...{ apiVersion: "v1", kind: "Any" },
  metadata: { name: "x", ...metadata },
});

const causesOf = (storageKey: string, metadata: Partial<ObjectMeta>) => {
  const type = builtinTypes.find((one) => one.storageKey === storageKey);
  assert.ok(type, storageKey);
  return validateMetadata(type, objectOf(metadata)).map(({ field }) => field);
};

const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };

const table: [fact: string, kind: string, metadata: Partial<ObjectMeta>, fields: string[]][] = [
  ["a name in lower case is taken", "/pods", { name: "a.b-1" }, []],
  ["a name is needed", "/pods", { name: "" }, ["metadata.name"]],
  ["a name in upper case is refused", "/pods", { name: "A" }, ["metadata.name"]],
  ["a name of 254 characters is refused", "/pods", { name: "a".repeat(254) }, ["metadata.name"]],
  ["a service's name begins with a letter", "/services", { name: "1a" }, ["metadata.name"]],
  ["a namespace has no dots", "/namespaces", { name: "a.b" }, ["metadata.name"]],
  ["a namespace has at most 63 characters", "/namespaces", { name: "a".repeat(64) }, ["metadata.name"]],
  ["a role may have colons", "rbac.authorization.k8s.io/roles", { name: "system:a" }, []],
  ["a role has no slash", "rbac.authorization.k8s.io/roles", { name: "a/b" }, ["metadata.name"]],
  ["a role is not a step up", "rbac.authorization.k8s.io/roles", { name: ".." }, ["metadata.name"]],
  ["a label may be empty", "/pods", { labels: { "svc.io/a": "" } }, []],
  ["a label's key begins with a letter or a digit", "/pods", { labels: { "-a": "b" } }, ["metadata.labels"]],
  [
    "a label's value has at most 63 characters",
    "/pods",
    { labels: { a: "b".repeat(64) } },
    ["metadata.labels"],
  ],
  ["a label's value has no spaces", "/pods", { labels: { a: "b c" } }, ["metadata.labels"]],
  ["a label's value is text", "/pods", { labels: { a: 1 as never } }, ["metadata.labels"]],
  ["an annotation holds any text", "/pods", { annotations: { a: "b c\n{}" } }, []],
  [
    "annotations hold at most 256 KiB together",
    "/pods",
    { annotations: { a: "b".repeat(131_072), c: "d".repeat(131_072) } },
    ["metadata.annotations"],
  ],
  ["a finalizer has a qualified name", "/pods", { finalizers: ["a b"] }, ["metadata.finalizers"]],
  [
    "an owner needs its uid",
    "/pods",
    { ownerReferences: [{ ...owner, uid: "" }] },
    ["metadata.ownerReferences.uid"],
  ],
  [
    "one owner controls",
    "/pods",
    {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, uid: "v", controller: true },
      ],
    },
    ["metadata.ownerReferences"],
  ],
];

describe("metadata", () => {
  for (const [fact, kind, metadata, fields] of table)
    test(fact, () => assert.deepEqual(causesOf(kind, metadata), fields));

  test("of an object that is being deleted loses finalizers and gets no new one", () => {
    const deleted = objectOf({ deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b", "c/d"] });
    const update = (finalizers: string[]) =>
      validateMetadataUpdate(objectOf({ finalizers }), deleted).map(({ message }) => message);
    assert.deepEqual(update(["a/b"]), []);
    assert.match(
      update(["a/b", "e/f"]).join(),
      /no new finalizers .*found new finalizers \[\]string\{"e\/f"\}/,
    );
  });
});

test("a generated name keeps its prefix, fits a label and differs", () => {
  const names = Array.from({ length: 50 }, () => generateName("p".repeat(70)));
  assert.ok(names.every((name) => name.length === 63 && name.startsWith("p".repeat(58))));
  assert.equal(new Set(names).size, 50);
});
