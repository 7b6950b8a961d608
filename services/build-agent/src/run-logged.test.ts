import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { limits } from "./config.ts";
import { withinDisk } from "./image/disk.ts";
import { runLogged } from "./run-logged.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-run-"));
after(() => rmSync(dir, { recursive: true }));

async function run(script: string, more: { signal?: AbortSignal; most?: Partial<typeof limits> } = {}) {
  const lines: string[] = [];
  const { signal = new AbortController().signal, most } = more;
  const env = { PATH: "/usr/bin:/bin" };
  const program = { command: "/bin/sh", args: ["-c", script], env, cwd: dir };
  const context = { say: (line: string) => void lines.push(line), signal, limits: { ...limits, ...most } };
  const error = await runLogged(program, context).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  return { lines, message: error?.message };
}

describe("the log of a program", () => {
  test("has both of its outputs; the last line is the reason of its failure", async () => {
    const { lines, message } = await run("echo out; echo why >&2; echo; exit 3");
    assert.deepEqual([lines.toSorted(), message], [["", "out", "why"], "why"]);
    assert.equal((await run("exit 4")).message, "/bin/sh ended with 4");
  });
  test("is cut at its limit and says so; the last line is kept", async () => {
    const flood = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done";
    const { lines, message } = await run(`${flood}; echo the end; exit 1`, {
      most: { logBytes: 1_000 } as never,
    });
    assert.ok(lines.length < 150, String(lines.length));
    assert.equal(lines.at(-3), "(the log is cut here: it has more than 1000 bytes)");
    assert.match(lines.at(-2) ?? "", /^\(\d{4} lines are omitted; the last one follows\)$/);
    assert.deepEqual([lines.at(-1), message], ["the end", "the end"]);
  });
  test("has no line longer than its limit, however long the program makes it", async () => {
    const { lines } = await run("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo next");
    assert.deepEqual(
      lines.map(({ length }) => length),
      [limits.logLine, 4],
    );
  });
});

describe("a program", () => {
  test("that leaves a process behind with its output ends nevertheless", async () => {
    const { lines, message } = await run("echo one; sleep 600 & echo $! >left");
    assert.deepEqual([lines, message], [["one"], undefined]);
    process.kill(Number(readFileSync(join(dir, "left"), "utf8")));
  });
  test("is stopped with all its children, those of another session too", async () => {
    const stopping = new AbortController();
    const script = "setsid sh -c 'echo $$ >child; sleep 600; :' & sh -c 'sleep 600; :'; :";
    const running = run(script, { signal: stopping.signal });
    await until(() => existsSync(join(dir, "child")));
    const pid = Number(await until(() => readFileSync(join(dir, "child"), "utf8").trim()));
    stopping.abort(new Error("the build was stopped"));
    assert.equal((await running).message, "the build was stopped");
    await until(() => !existsSync(`/proc/${pid}`));
  });
  test("that leaves too little of its disk free is stopped", async () => {
    const context = {
      say: () => {},
      signal: new AbortController().signal,
      limits: { ...limits, keepFree: 1, diskCheckMs: 50 },
    };
    const filling = withinDisk(dir, context as never, ({ signal }) => run("sleep 600", { signal }));
    assert.match((await filling).message ?? "", /less than 100 % of its disk free/);
  });
});

test("a program with more processes than it may have is ended with all of them", async () => {
  const forks = "i=0; while [ $i -lt 40 ]; do sleep 300.125 & i=$((i+1)); done; wait";
  const most = { processes: 20, diskCheckMs: 20 } as never;
  const { message } = await run(forks, { most });
  assert.equal(message, "the build runs more than 20 processes at once");
  const isLeft = (pid: string) => readOrEmpty(`/proc/${pid}/cmdline`).startsWith("sleep\x180.125");
  await until(() => !readdirSync("/proc").some(isLeft));
});

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
