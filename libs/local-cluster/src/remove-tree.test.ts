import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeTree } from "./remove-tree.ts";

test("a volume with folders too deep for any path is removed with its content, and a missing one is not a failure", async () => {
  const base = mkdtempSync(join(tmpdir(), "svc-remove-"));
  // 8,000 characters, of 4,096 that a path may have.
  const name = "d".repeat(39);
  const script = `for i in $(seq 200); do mkdir ${name} && cd -P ${name} || exit 1; done; echo in > in`;
  execFileSync("sh", ["-c", script], { cwd: base });
  await removeTree(base);
  assert.equal(existsSync(base), false);
  await removeTree(base);
});
