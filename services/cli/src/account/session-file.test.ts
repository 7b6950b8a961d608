import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findSession, removeSession, saveSession } from "./session-file.ts";

const data = mkdtempSync(join(tmpdir(), "svc-session-"));
const file = join(data, "cli-session");
after(() => rmSync(data, { recursive: true }));

test("a session is found with its host, and only its owner can read the file", () => {
  assert.equal(findSession(data), undefined);
  for (const panelHost of ["admin", "panel"] as const) {
    saveSession(data, { value: "v1", panelHost });
    assert.deepEqual(findSession(data), { value: "v1", panelHost });
    assert.equal(statSync(file).mode & 0o777, 0o600);
  }
});

test("a file that others could read is replaced, not written into", () => {
  writeFileSync(file, "old admin\n", { mode: 0o644 });
  saveSession(data, { value: "v2", panelHost: "admin" });
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a session that was removed, or an empty file, is none", () => {
  writeFileSync(file, "\n");
  assert.equal(findSession(data), undefined);
  removeSession(data);
  removeSession(data);
  assert.equal(findSession(data), undefined);
});
