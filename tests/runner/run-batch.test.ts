import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { patience, until } from "@svc/local-stack/testing";
import { endOfRun } from "./report.ts";
import { runBatch } from "./run-batch.ts";

let dir: string;
before(() => {
  dir = mkdtempSync(join(tmpdir(), "svc-runner-"));
});
after(() => rmSync(dir, { recursive: true, force: true }));

/** Runs test files with these bodies as one batch. */
function run(bodies: string | readonly string[], limits: { timeoutMs?: number; graceMs?: number } = {}) {
  const batch = [bodies].flat().map((body, index) => {
    const file = join(dir, `${"xyz"[index]}.test.mjs`);
    writeFileSync(file, `import { after, before, test } from "node:test";\n${body}`);
    return file;
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const root = resolve(import.meta.dirname, "../..");
  const { signal } = new AbortController();
  const { timeoutMs = 60_000 * patience, graceMs = timeoutMs } = limits;
  const own = mkdtempSync(join(dir, "run-"));
  return runBatch(batch, { root, dir: own, env, nodeArgs: [], timeoutMs, graceMs, signal });
}

test("a file that passes has no problem, and its tests are counted", async () => {
  const { problem, counts, output } = await run(
    `test("one", () => {}); test("two", { skip: true }, () => {});`,
  );
  assert.equal(problem, undefined);
  assert.deepEqual([counts?.["tests"], counts?.["passed"], counts?.["skipped"]], [2, 1, 1]);
  assert.match(output, /✔ one/);
});

test("a file with a failed test fails, and the end of the run says where", async () => {
  const ended = await run(
    `test("fine", () => {}); test("broken", () => { throw new Error("the reason"); });`,
  );
  assert.equal(ended.problem, "ended with 1");
  assert.match(
    endOfRun([ended], 1),
    /✖ broken[\s\S]*the reason[\s\S]*1 failed[\s\S]*\n✖ broken: the reason\n\nFAILED: .*x\.test\.mjs/,
  );
});

test("an exception after the last test fails the batch, and the end of the run says which", async () => {
  const ended = await run(
    `test("fine", () => {}); after(() => { setImmediate(() => { throw new Error("the reason"); }); });`,
  );
  assert.equal(ended.counts?.["failed"], 0);
  assert.match(endOfRun([ended], 1), /ended with 1 although no test failed:[\s\S]*the reason[\s\S]*FAILED: /);
});

test("hooks at the top of a file are for its own tests, and each file has a result of its own", async () => {
  const file = (name: string) => `
    before(() => console.log("before ${name}"));
    after(() => console.log("after ${name}"));
    test("of ${name}", () => { console.log("test ${name}"); if ("${name}" === "x") throw new Error(); });`;
  const ended = await run([file("x"), file("y")]);
  const order = [...ended.output.matchAll(/^(?:before|test|after) [xy]$/gm)].map(([line]) => line);
  assert.deepEqual(order, ["before x", "test x", "after x", "before y", "test y", "after y"]);
  assert.deepEqual(
    ended.files?.map(({ isPassed }) => isPassed),
    [false, true],
  );
  assert.match(endOfRun([ended], 1), /2 files, 2 tests, 1 passed, 1 failed[\s\S]*FAILED: \S*x\.test\.mjs$/);
});

for (const [what, body, problem] of [
  ["that ends its process", `test("x", () => process.exit(0));`, /^ended with 0 before its tests did$/],
  ["that is killed", `test("x", () => process.kill(process.pid, "SIGKILL"));`, /^ended with SIGKILL before/],
  ["that cannot be loaded", `import "./missing.mjs";`, /^ended with 1$/],
  [
    "that leaves an error behind",
    `test("x", () => void setTimeout(() => { throw new Error(); }, 20));`,
    /^ended with [1-9]/,
  ],
] as const) {
  test(`a file ${what} fails`, async () => {
    const ended = await run(body);
    assert.match(ended.problem ?? "", problem);
    assert.match(endOfRun([ended], 1), /FAILED: .*x\.test\.mjs/);
  });
}

test("what a file leaves running is killed, and its temporary files are removed", async () => {
  const { output, problem } = await run(`
    import { spawn } from "node:child_process";
    import { tmpdir } from "node:os";
    test("x", () => {
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
      child.unref();
      console.log("left " + child.pid + " in " + tmpdir() + " .");
    });`);
  assert.equal(problem, undefined);
  const [, pid, folder = ""] = /left (\d+) in (\S+)/.exec(output) ?? [];
  assert.equal(existsSync(folder), false);
  await until(
    () => !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z "),
  );
});

test("what failed before a file was killed is in the end of the run", async () => {
  const body = `test("broken", () => { throw new Error("the reason"); }); test("x", () => new Promise(() => setTimeout(() => process.exit(1), 50)));`;
  assert.match(endOfRun([await run(body)], 1), /ended with 1 before[\s\S]*✖ broken[\s\S]*the reason/);
});

test("a file that never yields is killed at its limit and fails", async () => {
  const { problem } = await run(`test("x", () => { for (;;); });`, {
    timeoutMs: 1_500 * patience,
  });
  assert.match(problem ?? "", /^was killed after/);
});

test("a batch whose tests are over but left a handle open is killed soon, and fails", async () => {
  const { problem, output } = await run(
    [`test("x", () => void setInterval(() => {}, 1e6));`, `test("y", () => {});`],
    {
      graceMs: 500,
    },
  );
  assert.match(problem ?? "", /^was killed after .*: its tests left something open$/);
  assert.match(output, /✔ x[\s\S]*✔ y/);
});
