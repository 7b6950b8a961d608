// What the README promises, by the command line alone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { newestCode, type Stack, startStack, until } from "./stack.ts";

const main = resolve(import.meta.dirname, "../../services/cli/src/main.ts");
let stack: Stack;
before(async () => {
  stack = await startStack(["--set", "lifecycle.stop_notice=1s"]);
});
after(() => stack?.stop());

/** Runs `svc … --json`, which must work, and gives its one value back. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const ran = await stack.svc(...args, "--json");
  assert.equal(ran.code, 0, `svc ${args.join(" ")}: ${ran.stderr}${ran.stdout}`);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

test("without an account the command line says how to get one", async () => {
  const refused = await stack.svc("server", "list");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /npm run svc -- account setup --email/);
});

test("the owner is made with the mailed code, typed when it is asked for", async () => {
  const args = ["account", "setup", "--email", "you@example.net", "--data", stack.dataDir];
  const child = spawn(process.execPath, [main, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  const ended = new Promise<number | null>((settle) => child.once("exit", settle));
  const code = await until("the mailed code", 15_000, () => newestCode(join(stack.dataDir, "mail")));
  child.stdin.end(`${code}\n`);
  assert.equal(await ended, 0);
  assert.match(said, /You are the owner, you@example\.net\. Setup is done\./);
});

test("a server is created, woken, looked at and stopped", async () => {
  const created = await json("server", "create", "survival", "--policy", "public", "--idle", "60");
  assert.deepEqual(created, { name: "survival", subdomain: "survival", desiredState: "Stopped" });
  const taken = await stack.svc("server", "create", "survival", "--policy", "public");
  assert.equal(taken.code, 1);
  assert.match(taken.stderr, /_taken, request /);

  const woken = await json("server", "wake", "survival", "--wait");
  assert.equal(woken["phase"], "Running");
  const status = await json("server", "status", "survival");
  assert.deepEqual(
    [status["ready"], status["autostartPolicy"], status["idleStopSeconds"]],
    [true, "public", 60],
  );
  const listed = await stack.svc("server", "list");
  assert.match(listed.stdout, /^survival +Running +0\/20 +127\./m);
  assert.equal((await json("server", "stop", "survival", "--wait"))["phase"], "Stopped");
});

test("the host's own commands show who there is, plan before they act, and rotate a token under running gateways", async () => {
  const { users } = (await json("user", "list")) as { users: { username: string; role: string }[] };
  assert.deepEqual(
    users.map(({ username, role }) => [username, role]),
    [["owner", "owner"]],
  );
  const planned = await json("break-glass", "add-operator", "alex");
  assert.equal(planned["done"], false);
  const { setup_url: link } = await json("break-glass", "add-operator", "alex", "--yes");
  assert.match(String(link), /\/setup\?token=/);
  const before = stack.file().tokens.velocity;
  await json("rotate-token", "velocity", "--yes");
  const { internal_base_url: internal, tokens } = stack.file();
  assert.notEqual(tokens.velocity, before);
  const statusWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${internal}/api/v1/servers`, { headers })).status;
  };
  await until("the old token to be refused", 15_000, async () => (await statusWith(before)) === 401);
  assert.equal(await statusWith(tokens.velocity), 200);
});

test("status names every process and service, and the doctor finds nothing wrong", async () => {
  const { processes, services } = await json("status");
  const names = (rows: unknown) => (rows as { name: string }[]).map(({ name }) => name).sort();
  const expected = [
    "builds",
    "gateway-external",
    "gateway-internal",
    "identity",
    "lifecycle",
    "ops-watchdog",
    "storage",
  ];
  assert.deepEqual(names(services), expected);
  const beside = ["local-cluster", "mail-sink", "nats", "postgres", "proxy", "login-gate", "lobby"];
  assert.deepEqual(names(processes), [...expected, ...beside].sort());
  const { healthy, findings } = await json("doctor");
  assert.equal(healthy, true);
  assert((findings as { check: string }[]).some(({ check }) => check === "game port"));
});

test("the doctor says what is wrong and ends with 1", async () => {
  const sick = stack.file().processes.filter(({ name }) => name === "storage" || name === "proxy");
  for (const { pid } of sick) process.kill(pid, "SIGSTOP");
  try {
    const { code, stdout } = await stack.svc("doctor");
    assert.equal(code, 1);
    assert.match(stdout, /^BAD +service storage +does not answer; see its log$/m);
    assert.match(stdout, /^BAD +game port +does not answer at 127\.0\.0\.1:\d+$/m);
  } finally {
    for (const { pid } of sick) process.kill(pid, "SIGCONT");
  }
});

test("a word that is no command, and an option that is none, end with 2", async () => {
  assert.equal((await stack.svc("nonsense")).code, 2);
  assert.equal((await stack.svc("server", "create", "x", "--policy", "nobody")).code, 2);
});
