import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findContextProblem, nameOfFile } from "./context-file.ts";

const gzip = new Uint8Array([0x1f, 0x8b, 8]);

describe("a chosen file", () => {
  const cases = [
    ["that is a gzip file of the largest size is fine", 100, gzip, undefined],
    ["of one byte more is too large", 101, gzip, "too-large"],
    ["without bytes is empty", 0, new Uint8Array(), "empty"],
    ["that is a zip may be a pack of Modrinth", 10, new Uint8Array([0x50, 0x4b]), undefined],
    ["that is a rar is not an archive of this kind", 10, new Uint8Array([0x52, 0x61]), "not-archive"],
    ["of one byte is not an archive", 1, new Uint8Array([0x1f]), "not-archive"],
  ] as const;
  for (const [name, size, head, expected] of cases)
    test(name, () => assert.equal(findContextProblem({ size, head }, 100), expected));
});

test("without a known limit no size is too large", () => {
  assert.equal(findContextProblem({ size: 1e12, head: gzip }, undefined), undefined);
});

test("the name of a file becomes one that a pack may have", () => {
  assert.equal(nameOfFile("Sky Block+ [v2].tar.gz"), "Sky Block+ [v2]");
  assert.equal(nameOfFile("pack\u202ezip.tgz"), "pack zip");
  assert.equal(nameOfFile("Adrenaline-1.2.mrpack"), "Adrenaline-1.2");
  assert.equal(nameOfFile("\u7a7a\u5c9b.tar.gz"), "\u7a7a\u5c9b");
  assert.equal(nameOfFile("\u2603.tar.gz"), "");
});
