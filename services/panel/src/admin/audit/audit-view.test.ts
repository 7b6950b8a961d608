import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allEntries, auditViewOf, payloadText, requestOf, sourceOf } from "./audit-view.ts";

describe("the audit log in the address", () => {
  const cases = [
    ["an empty address asks for all", {}, {}],
    [
      "texts as they are",
      { action: "auth.*", actor: "ada", server: 42 },
      { action: "auth.*", actor: "ada", server: "42" },
    ],
    ["days that are none count as nothing", { since: "2026-02-31", until: "yesterday" }, {}],
    ["a foreign cursor counts as nothing", { before: "1; drop" }, {}],
    ["a cursor", { before: "1763800000000-12" }, { before: "1763800000000-12" }],
    ["anything else counts as nothing", { actor: { a: 1 }, server: ["x"] }, {}],
  ] as const;
  for (const [name, query, expected] of cases)
    test(name, () => assert.deepEqual(auditViewOf(query), { ...allEntries, ...expected }));
});

test("the last day counts whole", () => {
  const view = { ...allEntries, actor: " ada ", since: "2026-10-31", until: "2026-10-31", before: "5-6" };
  assert.deepEqual(requestOf(view), {
    limit: 50,
    actor: "ada",
    since: new Date(2026, 9, 31).toISOString(),
    until: new Date(2026, 10, 1).toISOString(),
    cursor: "5-6",
  });
});

test("a source is split from who called", () => {
  assert.deepEqual(sourceOf("internal:velocity"), { kind: "internal", caller: "velocity" });
  assert.deepEqual(sourceOf("break-glass"), { kind: "break-glass", caller: "" });
});

test("what hides in a payload is shown, and an empty one says nothing", () => {
  assert.equal(payloadText({}), undefined);
  assert.equal(payloadText({ name: "a\u202eb" }), '{\n  "name": "a[U+202E]b"\n}');
});
