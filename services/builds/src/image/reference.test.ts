import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseReference } from "@svc/registry";
import { entriesAdmitting, pinned, problemOfEntry } from "./reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("entries that admit an image", () => {
  const table: [string, string[]][] = [
    ["a/b:1", ["a/b:*", "a/b:1"]],
    ["a/b", ["a/b:*", "a/b", "a/b:latest"]],
    ["a/b:latest", ["a/b:*", "a/b", "a/b:latest"]],
    [`a/b:1@${digest}`, ["a/b:*", "a/b:1"]],
    [`a/b@${digest}`, ["a/b:*"]],
  ];
  for (const [text, entries] of table) {
    test(text, () => {
      const reference = parseReference(text);
      assert.deepEqual(reference && entriesAdmitting(reference), entries);
    });
  }
});

describe("a pinned reference", () => {
  const table: [string, string][] = [
    ["r:5/a:1", `r:5/a:1@${digest}`],
    ["r:5/a", `r:5/a:latest@${digest}`],
    [`r:5/a@${digest}`, `r:5/a@${digest}`],
    [`r:5/a:1@${digest}`, `r:5/a:1@${digest}`],
  ];
  for (const [text, wanted] of table) {
    test(`of ${text.slice(0, 16)}`, () => {
      const reference = parseReference(text);
      assert.equal(reference && pinned(reference, digest), wanted);
    });
  }
});

describe("an entry of the whitelist", () => {
  for (const text of ["a:1", "a", "a:*", "r:5/a/b:*", "itzg/minecraft-server:java21"]) {
    test(`may be ${text}`, () => assert.equal(problemOfEntry(text), undefined));
  }
  for (const text of ["*", ":*", "a:1:*", "a:1*", "*:1", "a/*", `a:1@${digest}`, "a b", ""]) {
    test(`cannot be ${JSON.stringify(text.slice(0, 20))}`, () => assert.ok(problemOfEntry(text)));
  }
});
