import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cpuNanosOf, type Reading, residentBytesOf, usagesBetween } from "./pod-usage.ts";

const run = (uid: string, container: string, cpuSeconds: number, memoryBytes = 1_024): Reading => ({
  ...{ uid, container, memoryBytes },
  cpuNanos: cpuSeconds * 1e9,
});
const at = (seconds: number, runs: Record<string, Reading>) => ({
  at: seconds * 1_000,
  runs: new Map(Object.entries(runs)),
});

test("usage is processor time over the window, and the memory at its end", () => {
  const before = at(100, { r: run("pod", "main", 10, 1) });
  const after = at(160, { r: run("pod", "main", 40, 2_048) });
  const containers = [{ container: "main", cpuNanocores: 5e8, memoryBytes: 2_048 }];
  assert.deepEqual(usagesBetween(before, after).get("pod"), {
    at: new Date(160_000),
    windowMs: 60_000,
    containers,
  });
});

test("a pod is left out until each of its containers has run for a whole window", () => {
  const before = at(0, { a: run("pod", "main", 1), c: run("other", "main", 1) });
  const after = at(60, { a: run("pod", "main", 2), b: run("pod", "side", 1), c: run("other", "main", 1) });
  assert.deepEqual([...usagesBetween(before, after).keys()], ["other"]);
});

test("a restarted container is measured from its restart on", () => {
  const before = at(0, { "runs/0": run("pod", "main", 100) });
  const after = at(60, { "runs/1": run("pod", "main", 1) });
  assert.deepEqual(usagesBetween(before, after), new Map());
});

test("the usage of a process whose child vanished is never negative", () => {
  const usages = usagesBetween(at(0, { r: run("pod", "main", 5) }), at(60, { r: run("pod", "main", 4) }));
  assert.equal(usages.get("pod")?.containers[0]?.cpuNanocores, 0);
});

test("processor time is read after a name with spaces and brackets, and includes that of ended children", () => {
  const stat = "42 (a) b (c) S 1 42 42 0 -1 4194304 100 0 0 0 7 3 2 1 20 0 1 0 5 1000 10";
  assert.equal(cpuNanosOf(stat), 13 * 1e7);
});

test("processor time and memory of this process are read from /proc", () => {
  const nanos = cpuNanosOf(readFileSync("/proc/self/stat", "latin1"));
  const { user, system } = process.cpuUsage();
  assert.ok(Math.abs(nanos - (user + system) * 1_000) < 5e8, `${nanos} and ${user + system} µs`);
  assert.ok(residentBytesOf(readFileSync("/proc/self/status", "latin1")) > 10 * 2 ** 20);
  assert.equal(residentBytesOf("Name:\tkthread\n"), 0);
});
