import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createCredentials, parseCredentials } from "./credentials.ts";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const long = (letter: string) => letter.repeat(24);

test("a changed file is in force at the next request, a missing or wrong one lets nobody write", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-credentials-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "credentials");
  const write = (text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const warnings: string[] = [];
  const { isThere, callerOf } = createCredentials(file, (message) => void warnings.push(message));
  assert.equal(isThere(), false);
  assert.equal(callerOf(basic(`build:${long("a")}`)), "unknown");
  write(`platform:${long("p")}\nbuild:${long("a")}\n`);
  assert.equal(isThere(), true);
  assert.equal(callerOf(basic(`build:${long("a")}`)), "build");
  assert.equal(callerOf(basic(`platform:${long("p")}`)), "platform");
  write(`build:${long("a")}\nbuild:${long("b")}\n`);
  assert.equal(callerOf(basic(`platform:${long("p")}`)), "unknown");
  for (const letter of ["a", "b"]) assert.equal(callerOf(basic(`build:${long(letter)}`)), "build");
  write("root:x\n");
  assert.equal(isThere(), false);
  assert.equal(callerOf(basic(`build:${long("b")}`)), "unknown");
  rmSync(file);
  assert.equal(isThere(), false);
  assert.match(warnings.at(-2) ?? "", /line 1 must begin with platform:, build:, prune:/);
  assert.match(warnings.at(-1) ?? "", /is missing; nobody may write/);
});

test("a password contains colons; what is not a header of this kind is unknown", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-credentials-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "credentials");
  writeFileSync(file, `build:${long("a")}:x\r\n\r\n`);
  const { callerOf } = createCredentials(file, () => undefined);
  assert.equal(callerOf(basic(`build:${long("a")}:x`)), "build");
  assert.equal(callerOf(undefined), "nobody");
  const others = [
    "",
    "Basic",
    "Basic !",
    basic(""),
    basic("build"),
    basic(`BUILD:${long("a")}:x`),
    "Bearer x",
  ];
  for (const header of others) assert.equal(callerOf(header), "unknown", header);
  assert.equal(callerOf(basic("x".repeat(5_000))), "unknown");
});

test("a short password, an unknown name and an empty file are refused with what to do", () => {
  assert.throws(() => parseCredentials("build:short"), /line 1 is shorter than 16 characters; generate one/);
  assert.throws(() => parseCredentials(`x\n`), /line 1 must begin with/);
  assert.throws(() => parseCredentials("\n"), /platform:PASSWORD/);
});
