import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseReference } from "./reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("a reference is taken apart", () => {
  const table: [string, string | undefined, string, string | undefined][] = [
    ["itzg/minecraft-server", undefined, "itzg/minecraft-server", undefined],
    ["itzg/minecraft-server:java21", undefined, "itzg/minecraft-server", "java21"],
    ["svc.local/demo-server:1.21.4", "svc.local", "demo-server", "1.21.4"],
    ["127.0.0.1:5000/a/b:c", "127.0.0.1:5000", "a/b", "c"],
    ["localhost/a", "localhost", "a", undefined],
    ["[::1]:5000/a:b", "[::1]:5000", "a", "b"],
    ["registry:5000/a", "registry:5000", "a", undefined],
  ];
  for (const [text, host, path, tag] of table) {
    test(text, () => {
      const { name: _name, ...rest } = parseReference(text) ?? { name: "" };
      assert.deepEqual(rest, { host, path, tag, digest: undefined });
      assert.equal(parseReference(`${text}@${digest}`)?.digest, digest);
    });
  }
});

describe("what is not a reference", () => {
  const texts = [
    "",
    ":",
    "a:",
    "a:*",
    "/a",
    "a//b",
    "a/../b:1",
    "..",
    "a b",
    "A:1",
    "http://registry/a:1",
    "registry:5000/a:1?x=y",
    "registry:5000/a:1#x",
    "registry:5000/a%2f:1",
    "user@registry/a:1",
    "a:1@sha256:abc",
    "a:1@md5:abc",
    `a:1@${digest}@${digest}`,
    "a:1\n",
    `a:${"t".repeat(129)}`,
    "x".repeat(256),
    "registry:5000:1/a",
  ];
  for (const text of texts) {
    test(JSON.stringify(text.slice(0, 40)), () => assert.equal(parseReference(text), undefined));
  }
});
