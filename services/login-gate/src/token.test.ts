import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createTokenSource } from "./token.ts";

test("a token in a file is read again after a second, and a file that is gone leaves the old one", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-gate-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const tokenFile = join(dir, "limbo");
  let now = 0;
  const token = createTokenSource({ token: "first", tokenFile }, () => now);
  writeFileSync(tokenFile, "second\n");
  now = 999;
  assert.equal(token(), "first");
  now = 1_000;
  assert.equal(token(), "second");
  rmSync(tokenFile);
  now = 2_000;
  assert.equal(token(), "second");
});

test("a token of the environment stays", () => {
  assert.equal(createTokenSource({ token: "fixed" }, () => 0)(), "fixed");
});
