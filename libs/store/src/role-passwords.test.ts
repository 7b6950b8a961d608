import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readRolePasswords } from "./role-passwords.ts";

test("passwords are read from a file of JSON and from a mounted Secret alike", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-roles-"));
  try {
    const file = join(dir, "roles.json");
    writeFileSync(file, JSON.stringify({ identity: "a", "ops-watchdog": "b" }));
    // Kubernetes mounts a Secret as links into a hidden folder.
    const secret = join(dir, "secret");
    mkdirSync(join(secret, "..data"), { recursive: true });
    for (const [name, text] of Object.entries({ identity: "a", "ops-watchdog": "b\n" })) {
      writeFileSync(join(secret, "..data", name), text);
      symlinkSync(join("..data", name), join(secret, name));
    }
    assert.deepEqual(readRolePasswords(secret), readRolePasswords(file));
  } finally {
    rmSync(dir, { recursive: true });
  }
});
