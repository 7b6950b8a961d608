import assert from "node:assert/strict";
import { test } from "node:test";
import type { builds } from "@svc/proto";
import { progressOf } from "./progress.ts";

const begin = Date.parse("2026-11-22T20:00:00Z");
const time = (seconds: number) => new Date(begin + seconds * 1_000).toISOString();
const ran = (name: builds.BuildStep, from: number, to?: number): builds.StepProgress => ({
  name,
  state: to === undefined ? "running" : "succeeded",
  startedAt: time(from),
  ...(to !== undefined && { finishedAt: time(to) }),
});
const waits = (name: builds.BuildStep): builds.StepProgress => ({ name, state: "pending" });
const earlier = [10, 20, 12].map((length) => [ran("build", 0, length), ran("scan", 0, 8)]);
const at = (steps: builds.StepProgress[], seconds: number, known = earlier) =>
  progressOf({ status: "building", steps, earlier: known, now: begin + seconds * 1_000 });

test("percent and end follow the usual time of each step, and a slow step never passes its share", () => {
  const half = at([ran("build", 0), waits("scan")], 6);
  assert.deepEqual([half.step, half.percent, half.eta], ["build", 30, time(20)]);
  const slow = at([ran("build", 0), waits("scan")], 100);
  assert.deepEqual([slow.percent, slow.eta], [60, time(108)]);
  assert.equal(at([ran("build", 0, 12), ran("scan", 12)], 40).percent, 99);
});

test("without earlier builds steps count the same, and nobody promises an end", () => {
  const { percent, eta } = at([ran("build", 0, 5), waits("scan")], 6, []);
  assert.deepEqual([percent, eta], [50, undefined]);
});

test("a build that waits is at 0, one that succeeded at 100", () => {
  const of = (status: builds.BuildStatus) => progressOf({ status, steps: [], earlier, now: begin }).percent;
  assert.deepEqual([of("pending"), of("succeeded")], [0, 100]);
});
