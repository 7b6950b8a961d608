import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fingerprintOf } from "@svc/service/token";
import { createProxyToken } from "./token.ts";

test("a rotated token is used within a second, and only its fingerprint is logged", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-token-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const tokenFile = join(dir, "svc-link.properties");
  const write = (text: string) => writeFileSync(tokenFile, text);
  const received: string[] = [];
  let now = 0;
  write("service-token=first\n");
  const token = createProxyToken(
    { token: "", tokenFile },
    { rereadMs: 1_000, now: () => now, onChange: (fingerprint) => received.push(fingerprint) },
  );
  assert.equal(token(), "first");
  write("service-token=second\n");
  now = 999;
  assert.equal(token(), "first");
  now = 1_000;
  assert.equal(token(), "second");
  write("");
  now = 2_000;
  assert.equal(token(), "second", "a half-written file leaves the old token");
  rmSync(tokenFile);
  now = 3_000;
  assert.equal(token(), "second");
  assert.deepEqual(received, [fingerprintOf("first"), fingerprintOf("second")]);
  assert(received.every((fingerprint) => /^[0-9a-f]{12}$/.test(fingerprint)));
});

test("a file of its own holds the token alone", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-token-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const tokenFile = join(dir, "velocity");
  writeFileSync(tokenFile, "one-and-only=\n");
  const token = createProxyToken({ token: "", tokenFile }, { rereadMs: 1, now: () => 0, onChange: () => {} });
  assert.equal(token(), "one-and-only=");
});

test("a token of the environment is fixed", () => {
  const onChange = () => assert.fail("nothing changes");
  const token = createProxyToken(
    { token: "env", tokenFile: undefined },
    { rereadMs: 1, now: () => 0, onChange },
  );
  assert.equal(token(), "env");
});
