import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findProcess, isAlive } from "../process/identity.ts";
import { launch } from "../process/launch.ts";
import { scratchDir } from "../testing/scratch.ts";
import { until } from "../testing/until.ts";
import { nextDelayMs } from "./back-off.ts";
import type { ChildSpec } from "./child.ts";
import { rotateLogs } from "./log-rotation.ts";
import { openRegistry } from "./registry.ts";
import { createSupervisor } from "./supervisor.ts";

const quick = { firstMs: 20, longestMs: 80, forgetAfterMs: 60_000 };

/** A shell program that says READY, notes its end in `ended` when told to stop, and else stays. */
function stayer(name: string, dir: string, extra: Partial<ChildSpec> = {}): ChildSpec {
  const script = `trap 'echo ${name} >> ${dir}/ended; exit 0' TERM; echo READY; while :; do sleep 0.02; done`;
  return {
    name,
    command: "/bin/sh",
    args: ["-c", script],
    ready: { line: (line) => line === "READY" },
    ...extra,
  };
}

function make(dir: string, stopWithinMs = 5_000) {
  const said: string[] = [];
  const registry = openRegistry(join(dir, "run"));
  const supervisor = createSupervisor({
    registry,
    logDir: join(dir, "logs"),
    say: (line) => said.push(line),
    backOff: quick,
    stopWithinMs,
  });
  return { supervisor, registry, said };
}

test("a process that dies is started again under a new pid, and one line says so", async () => {
  using scratch = scratchDir();
  const { supervisor, said } = make(scratch.path);
  await supervisor.start([stayer("worker", scratch.path)]);
  const [before] = supervisor.running();
  assert.ok(before);
  process.kill(before.pid, "SIGKILL");
  const after = await until(
    () => supervisor.running().find((row) => row.pid !== before.pid),
    10_000,
    "the restart",
  );
  assert.ok(findProcess(after.pid));
  assert.deepEqual(said, [
    `worker was ended by SIGKILL; restarting in 0.02 s (log: ${scratch.path}/logs/worker.log)`,
  ]);
  await supervisor.stop();
  assert.deepEqual(supervisor.running(), []);
  assert.equal(findProcess(after.pid), undefined);
  assert.deepEqual(readdirSync(join(scratch.path, "run")), []);
});

test("the wait after a death doubles from 0.2 s to 10 s and begins anew after a minute alive", () => {
  const waits: number[] = [];
  for (let last: number | undefined; waits.length < 8; waits.push(last)) last = nextDelayMs(last, 100);
  assert.deepEqual(waits, [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  assert.equal(nextDelayMs(10_000, 60_000), 200);
});

test("processes start after those they need and stop before them", async () => {
  using scratch = scratchDir();
  const { supervisor } = make(scratch.path);
  const started: string[] = [];
  const noted = (name: string, after: string[]) =>
    stayer(name, scratch.path, { after, beforeStart: async () => void started.push(name) });
  await supervisor.start([noted("database", []), noted("cluster", ["database"])]);
  await supervisor.start([noted("service", ["cluster"])]);
  assert.deepEqual(started, ["database", "cluster", "service"]);
  await supervisor.stop();
  const ended = readFileSync(join(scratch.path, "ended"), "utf8").trim().split("\n");
  assert.deepEqual(ended, ["service", "cluster", "database"]);
});

test("a process that never gets ready fails the start with the end of its log", async () => {
  using scratch = scratchDir();
  const { supervisor } = make(scratch.path);
  const broken: ChildSpec = {
    name: "broken",
    command: "/bin/sh",
    args: ["-c", "echo the port is taken; exit 3"],
    ready: { line: (line) => line === "READY" },
  };
  const waiting = stayer("waiting", scratch.path, { after: ["broken"] });
  await assert.rejects(
    supervisor.start([broken, waiting]),
    /^StackError: broken exited with code 3; its log is .*broken\.log:\nthe port is taken$/,
  );
  assert.deepEqual(supervisor.running(), []);
  await supervisor.stop();
});

test("a program that does not exist is named", async () => {
  using scratch = scratchDir();
  const { supervisor } = make(scratch.path);
  const missing: ChildSpec = { name: "missing", command: "/no/such/program", args: [] };
  await assert.rejects(supervisor.start([missing]), /missing could not be started: spawn .*ENOENT/);
  await supervisor.stop();
});

test("a process that ignores the stop signal is killed with its children within the time given", async () => {
  using scratch = scratchDir();
  const { supervisor } = make(scratch.path);
  const script = "trap '' TERM; sleep 60 & echo $!; echo READY; wait; while :; do sleep 1; done";
  const stubborn = stayer("stubborn", scratch.path, { args: ["-c", script], stopTimeoutMs: 100 });
  await supervisor.start([stubborn]);
  const log = readFileSync(join(scratch.path, "logs", "stubborn.log"), "utf8");
  const grandchild = findProcess(Number.parseInt(log, 10));
  assert.ok(grandchild);
  await supervisor.stop();
  await until(() => !isAlive(grandchild), 10_000, "the end of the grandchild");
});

test("a task runs once; its failure fails the start", async () => {
  using scratch = scratchDir();
  const { supervisor } = make(scratch.path);
  const task = (name: string, script: string): ChildSpec => ({
    name,
    kind: "task",
    command: "/bin/sh",
    args: ["-c", script],
  });
  await supervisor.start([task("good", `echo once >> ${scratch.path}/runs`)]);
  assert.equal(readFileSync(join(scratch.path, "runs"), "utf8"), "once\n");
  assert.deepEqual(supervisor.running(), []);
  const bad = supervisor.start([task("bad", "echo schema is newer; exit 1")]);
  await assert.rejects(bad, /bad exited with code 1; .*:\nschema is newer$/s);
  await supervisor.stop();
});

test("what a killed supervisor left behind is found by the next one and ended, the last started first", async () => {
  using scratch = scratchDir();
  const first = make(scratch.path);
  await first.supervisor.start([
    stayer("database", scratch.path),
    stayer("service", scratch.path, { after: ["database"] }),
  ]);
  // The first supervisor is still there but plays dead: only what is on disk is used.
  const orphans = first.registry.living();
  assert.equal(orphans.length, 2);
  const dead = { ...orphans[0], name: "gone", ref: { ...orphans[0]?.ref, startTicks: "1" } };
  writeFileSync(join(scratch.path, "run", "gone.json"), JSON.stringify(dead));
  writeFileSync(join(scratch.path, "run", "torn.json"), "{");
  const stopped = first.supervisor.stop();
  const second = openRegistry(join(scratch.path, "run"));
  assert.deepEqual((await second.clear()).sort(), ["database", "service"]);
  assert.ok(orphans.every((orphan) => !isAlive(orphan.ref)));
  assert.deepEqual(readdirSync(join(scratch.path, "run")), []);
  await stopped;
});

test("a log is rotated at its limit while its process goes on writing to it", async () => {
  using scratch = scratchDir();
  const path = join(scratch.path, "worker.log");
  writeFileSync(path, "x".repeat(2_000));
  const stop = rotateLogs(() => [path, join(scratch.path, "none.log")], 1_000, 10);
  await until(() => statSync(path).size === 0, 10_000, "the rotation");
  stop();
  appendFileSync(path, "next");
  assert.equal(readFileSync(path, "utf8"), "next");
  assert.equal(readFileSync(`${path}.1`, "utf8").length, 2_000);
});

test("a child that was started but not recorded when the supervisor was killed is found", async () => {
  using scratch = scratchDir();
  const run = join(scratch.path, "run");
  const { mark } = openRegistry(run);
  const { ref, exited } = launch(
    { ...stayer("worker", scratch.path), mark },
    join(scratch.path, "worker.log"),
  );
  assert.ok(ref);
  assert.deepEqual(await openRegistry(run).clear(), ["others"]);
  assert.equal(isAlive(ref), false);
  assert.notEqual((await exited).signal, "SIGKILL");
  assert.deepEqual(await openRegistry(run).clear(), []);
});
