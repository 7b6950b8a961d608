import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import pg from "pg";
import { findProcess, isAlive } from "../process/identity.ts";
import { scratchDir } from "../testing/scratch.ts";
import { until } from "../testing/until.ts";
import { startDetached } from "./detach.ts";
import { down } from "./down.ts";
import { rotateToken } from "./secrets.ts";
import { findStackFile, type StackFile } from "./stack-file.ts";

const script = resolve(import.meta.dirname, "../testing/run-stack.ts");
const startWithinMs = 20_000;

type Run = { child: ChildProcess; exited: Promise<number | null>; output: () => string };

function up(dir: string, only: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Run {
  const args = [script, join(dir, "data"), join(dir, "programs"), ...only];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<number | null>((done) => child.once("close", (code) => done(code)));
  return { child, exited, output: () => output };
}

function ready(dir: string, run?: Run): Promise<StackFile> {
  const path = join(dir, "data", "stack.json");
  return until(
    () => {
      if (run && run.child.exitCode !== null) throw new Error(`the stack ended:\n${run.output()}`);
      return findStackFile(path);
    },
    startWithinMs,
    "stack.json",
  );
}

/** A scratch folder whose stack is stopped before it goes, whatever the test came to. */
function stackDir(): { path: string; [Symbol.asyncDispose]: () => Promise<void> } {
  const scratch = scratchDir();
  return {
    path: scratch.path,
    [Symbol.asyncDispose]: async () => {
      await down({ data: join(scratch.path, "data") });
      scratch[Symbol.dispose]();
    },
  };
}

/** The registry itself: the gate of these stacks is a fake. */
function registryOf(dir: string): string {
  const ports = JSON.parse(readFileSync(join(dir, "data", "ports.json"), "utf8"));
  return `127.0.0.1:${ports.registry}`;
}

function livingOf(stack: StackFile) {
  return stack.processes.map((row) => findProcess(row.pid)).filter((ref) => ref !== undefined);
}

test("a stack starts whole, survives kills of its parts and of itself, and stops without a trace", async () => {
  await using scratch = stackDir();
  const file = join(scratch.path, "data", "stack.json");
  const first = up(scratch.path);
  const stack = await ready(scratch.path, first);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(stack.setup_url, "http://setup.example/once");
  assert.equal(stack.processes.length, 16);
  const metrics = stack.processes.filter((row) => row.metrics === "http://127.0.0.1:9/metrics");
  assert.equal(metrics.length, 11);
  assert.equal(livingOf(stack).length, 16);
  assert.equal((await fetch(`http://${registryOf(scratch.path)}/v2/`)).status, 200);
  const { host, username: user, password: pass } = new URL(stack.nats_url);
  const nats = await connect({ servers: host, user, pass });
  await nats.close();
  const database = new pg.Client(stack.database_url);
  await database.connect();
  await database.query("create table note (text text)");
  await database.end();
  await until(() => first.output().includes("svc is ready."), 10_000, "the announcement");

  const second = up(scratch.path);
  assert.equal(await second.exited, 0);
  assert.match(second.output(), /a stack is already running on .* \(pid \d+\); npm run down stops it/);

  rmSync(join(scratch.path, "data", "setup-url"));
  await until(() => findStackFile(file)?.setup_url === undefined, 10_000, "the spent link to go");
  const velocity = rotateToken(join(scratch.path, "data"), "velocity");

  const victim = stack.processes.find((row) => row.name === "postgres");
  assert.ok(victim);
  process.kill(victim.pid, "SIGKILL");
  const healed = await until(
    () => {
      const now = findStackFile(file)?.processes.find((row) => row.name === "postgres");
      return now && now.pid !== victim.pid ? now : undefined;
    },
    10_000,
    "the restart of PostgreSQL",
  );
  assert.match(first.output(), /postgres was ended by SIGKILL; restarting in 0\.2 s/);
  assert.equal(findStackFile(file)?.tokens.velocity, velocity);

  const before = findStackFile(file);
  assert.ok(before);
  const orphans = livingOf(before);
  first.child.kill("SIGKILL");
  await first.exited;
  assert.ok(orphans.some(isAlive));
  const third = up(scratch.path);
  const again = await until(
    () => {
      const now = findStackFile(file);
      return now?.setup_url && now.processes.every((row) => row.pid !== healed.pid) ? now : undefined;
    },
    startWithinMs,
    "the third start",
  );
  assert.match(third.output(), /stopped processes of an earlier run: .*postgres/);
  assert.ok(orphans.every((ref) => !isAlive(ref)));
  const tokens = { ...stack.tokens, velocity };
  assert.deepEqual({ ...again, processes: [] }, { ...stack, tokens, processes: [] });
  const kept = new pg.Client(again.database_url);
  await kept.connect();
  assert.equal((await kept.query("select * from note")).rowCount, 0);
  await kept.end();

  const living = livingOf(again);
  third.child.kill("SIGTERM");
  assert.equal(await third.exited, 0);
  assert.ok(living.every((ref) => !isAlive(ref)));
  assert.ok(!existsSync(file));
});

test("a detached stack is ready when the command returns, and down stops it", async () => {
  await using scratch = stackDir();
  const data = join(scratch.path, "data");
  const announced: string[] = [];
  const start = (args: readonly string[]) =>
    startDetached({
      data,
      command: process.execPath,
      args,
      env: process.env,
      say: () => undefined,
      announce: (text) => announced.push(text),
    });
  await start([script, data, join(scratch.path, "programs"), "gateway-external"]);
  assert.match(announced[0] ?? "", /^svc is ready\.\n {2}external http:\/\/127\.0\.0\.1:\d+ /);
  const stack = findStackFile(join(data, "stack.json"));
  assert.ok(stack);
  const names = stack.processes.map((row) => row.name).sort();
  assert.deepEqual(names, ["gateway-external", "local-cluster", "mail-sink", "nats", "postgres"]);
  const living = livingOf(stack);
  assert.equal(await down({ data }), true);
  assert.ok(living.every((ref) => !isAlive(ref)));
  assert.equal(await down({ data }), false);
  await assert.rejects(start(["-e", "process.exit(3)"]), /did not start; its log is .*supervisor\.log/);
});

test("a start that fails says why, leaves nothing running and ends with code 1", async () => {
  using scratch = scratchDir();
  const run = up(scratch.path, ["gateway-external"], { SVC_NATS_SERVER: "/bin/false" });
  assert.equal(await run.exited, 1);
  assert.match(
    run.output(),
    /svc: SVC_NATS_SERVER names \/bin\/false, which is not a nats-server that runs here/,
  );
  assert.ok(!existsSync(join(scratch.path, "data", "stack.json")));
  assert.equal(readFileSync(join(scratch.path, "data", "secrets", "postgres"), "utf8").length, 33);
});

test("a panel that cannot be built fails the start with the words of the build", async () => {
  using scratch = scratchDir();
  const fault = "src/app/main.tsx does not parse";
  const run = up(scratch.path, ["gateway-external"], { SVC_TEST_PANEL_FAULT: fault });
  assert.equal(await run.exited, 1);
  assert.match(run.output(), /svc: panel exited with code 1; its log is .*panel\.log:\n.*does not parse/);
  assert.ok(!existsSync(join(scratch.path, "data", "stack.json")));
});
