import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { createDurations, timed } from "./durations.ts";

const buckets = [1];

test("every combination of listed labels starts at 0, and none with a label whose values are open", async () => {
  const registry = new Registry();
  const labels = { kind: ["backup", "restore"], result: ["done", "failed"] };
  createDurations(registry, { name: "svc_listed", help: "Listed.", buckets, labels })(
    { kind: "backup", result: "done" },
    2,
  );
  const open = { mode: [] as string[], result: ["done"] };
  createDurations(registry, { name: "svc_open", help: "Open.", buckets, labels: open });
  const text = await registry.metrics();
  assert.match(text, /svc_listed_sum\{kind="backup",result="done"\} 2/);
  assert.match(text, /svc_listed_count\{kind="restore",result="failed"\} 0/);
  assert.doesNotMatch(text, /svc_open_count/);
});

test("timed work is observed with its result, and its error is passed on", async () => {
  const seen: string[] = [];
  const observe = (result: string, seconds: number) => void seen.push(`${result} ${seconds >= 0}`);
  assert.equal(await timed(observe, async () => 7), 7);
  await assert.rejects(
    timed(observe, () => Promise.reject(new Error("down"))),
    /down/,
  );
  assert.deepEqual(seen, ["done true", "failed true"]);
});
