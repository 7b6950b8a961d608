import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { createLease, type LeaseView } from "./lease.ts";

let dir: string;
let clock = 1_000_000;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "svc-lease-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const start = (warn: (message: string) => void = () => undefined) =>
  createLease({ file: join(dir, "lease.json"), quietMs: 120_000, ttlMs: 60_000, now: () => clock, warn });

function acquired(lease: ReturnType<typeof start>): LeaseView {
  const result = lease.acquire();
  assert.ok("id" in result, JSON.stringify(result));
  return result;
}

describe("the read-only lease", () => {
  test("it is given after the time without writes, counted from the start of the gate", () => {
    const lease = start();
    assert.deepEqual(lease.acquire(), { reason: "the last push is too recent", retryAfterSeconds: 120 });
    clock += 90_000;
    const end = lease.beginWrite();
    clock += 500_000;
    assert.deepEqual(lease.acquire(), { reason: "a push is under way", retryAfterSeconds: 120 });
    end();
    clock += 119_999;
    assert.deepEqual(lease.acquire(), { reason: "the last push is too recent", retryAfterSeconds: 1 });
    clock += 1;
    acquired(lease);
    assert.equal(lease.isReadOnly(), true);
  });
  test("only one holds it, and it ends by being ended or by running out", () => {
    const lease = start();
    clock += 120_000;
    const { id } = acquired(lease);
    assert.ok("reason" in lease.acquire());
    assert.equal(lease.end("another"), false);
    assert.equal(lease.end(id), true);
    assert.equal(lease.isReadOnly(), false);
    const second = acquired(lease);
    clock += 59_999;
    assert.ok(lease.renew(second.id, undefined));
    clock += 59_999;
    assert.equal(lease.isReadOnly(), true);
    clock += 1;
    assert.equal(lease.isReadOnly(), false);
    assert.equal(lease.renew(second.id, undefined), undefined, "a lease that ran out is not revived");
    assert.equal(existsSync(join(dir, "lease.json")), false);
  });
  test("a gate that is restarted in a sweep stays read-only and lets the same lease end", () => {
    const lease = start();
    clock += 120_000;
    const { id } = acquired(lease);
    const restarted = start();
    assert.equal(restarted.isReadOnly(), true);
    assert.ok(restarted.renew(id, undefined));
    assert.equal(restarted.end(id), true);
    assert.equal(start().isReadOnly(), false);
  });
  test("a sweep that outlives its lease keeps the registry read-only until its process is gone", async () => {
    const lease = start();
    clock += 120_000;
    const { id } = acquired(lease);
    const sweeper = spawn("/bin/sh", ["-c", "read -r x"]);
    await once(sweeper, "spawn");
    assert.ok(lease.renew(id, sweeper.pid));
    clock += 3_600_000;
    assert.equal(lease.isReadOnly(), true);
    assert.equal(start().isReadOnly(), true);
    sweeper.kill("SIGKILL");
    await once(sweeper, "exit");
    assert.equal(lease.isReadOnly(), false);
  });
  test("a damaged file counts as a lease that runs out", () => {
    writeFileSync(join(dir, "lease.json"), "{");
    const warnings: string[] = [];
    const lease = start((message) => void warnings.push(message));
    assert.equal(lease.isReadOnly(), true);
    assert.match(warnings.join(), /is damaged; the registry is read-only for 60 s/);
    clock += 60_000;
    assert.equal(lease.isReadOnly(), false);
  });
});
