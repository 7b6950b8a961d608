import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeTree } from "./remove-tree.ts";

test("a volume with folders too deep for any path is removed with its content, and a missing one is not a failure", async () => {
  const base = mkdtempSync(join(tmpdir(), "svc-remove-"));
  execFileSync("sh", ["-c", "for i in $(seq 2500); do mkdir d && cd -P d || exit 1; done; echo in > in"], {
    cwd: base,
  });
  await removeTree(base);
  assert.equal(existsSync(base), false);
  await removeTree(base);
});
