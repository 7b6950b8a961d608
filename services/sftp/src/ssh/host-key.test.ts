import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import ssh2 from "ssh2";
import { deriveHostKey } from "./host-key.ts";

test("replicas with the same secret have the same host key, and others another", () => {
  const [one, same, other] = ["a", "a", "b"].map((letter) => deriveHostKey(letter.repeat(32)));
  assert.deepEqual(one, same);
  assert.notEqual(one?.fingerprint, other?.fingerprint);
});

test("ssh2 and OpenSSH read the key, and print the fingerprint that people are told", (t) => {
  const { privateKey, fingerprint } = deriveHostKey("a".repeat(32));
  assert.ok(!(ssh2.utils.parseKey(privateKey) instanceof Error));
  const dir = mkdtempSync(join(tmpdir(), "svc-host-key-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "key"), privateKey, { mode: 0o600 });
  let printed: string;
  try {
    printed = execFileSync("ssh-keygen", ["-l", "-f", join(dir, "key")], { encoding: "utf8" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return t.skip("no ssh-keygen");
    throw error;
  }
  assert.equal(printed.split(" ")[1], fingerprint);
});
