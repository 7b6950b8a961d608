// Runs a batch of test files in one process of its own.

import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { killBelow } from "./kill-below.ts";
import type { Batch } from "./order.ts";
import type { Ended } from "./report.ts";
import type { Result } from "./reporter.ts";

export type RunOptions = {
  root: string;
  /** An empty folder. */
  dir: string;
  env: NodeJS.ProcessEnv;
  /** Options of node. */
  nodeArgs: readonly string[];
  /** A batch that has not ended after so long is killed and has failed. */
  timeoutMs: number;
  /** One whose tests have all ended gets so long to end itself. */
  graceMs: number;
  /** Ends the batch early. */
  signal: AbortSignal;
};

const killAfterMs = 10_000;
const mostErrors = 4_000;

/** Resolves when all files of the batch have ended, with all that they printed. */
export async function runBatch(batch: Batch, options: RunOptions): Promise<Ended & { output: string }> {
  const { root, dir, nodeArgs, timeoutMs, graceMs, signal } = options;
  const startedAt = performance.now();
  const args = [
    // A test that hangs is named before its batch is killed.
    `--test-timeout=${Math.round(timeoutMs * 0.9)}`,
    `--test-reporter=${join(root, "tests/runner/reporter.ts")}`,
    "--test-reporter-destination=stdout",
    ...nodeArgs,
    join(root, "tests/runner/load.ts"),
    ...batch,
  ];
  // Short: paths of sockets below it have at most 107 characters.
  const temporary = mkdtempSync(join(dir, "t-"));
  const resultPath = `${temporary}.json`;
  // Postfix and others do not run as this user.
  for (const folder of [dir, temporary]) chmodSync(folder, 0o755);
  const env = { ...options.env, SVC_TEST_RESULT: resultPath, TMPDIR: temporary };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    errors = (errors + text).slice(-mostErrors);
  });
  let isLate = false;
  // node:test handles SIGTERM in JavaScript, which a test that never yields does not reach.
  const limit = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  // What a failed test left open, such as a player of a game, would keep the others waiting until then.
  let isOpen = false;
  const watch = setInterval(() => {
    if ((readResult(resultPath)?.files.length ?? 0) < batch.length) return;
    clearInterval(watch);
    setTimeout(() => {
      isOpen = true;
      child.kill("SIGKILL");
    }, graceMs).unref();
  }, 1_000);
  const onAbort = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), killAfterMs).unref();
  };
  signal.addEventListener("abort", onAbort);
  const how = await new Promise<number | string>((settle) =>
    // Not "close": a process that the test left behind may keep the pipe open.
    child.on("exit", (code, by) => setImmediate(settle, code ?? by ?? 1)),
  );
  clearTimeout(limit);
  clearInterval(watch);
  signal.removeEventListener("abort", onAbort);
  const result = readResult(resultPath);
  // A batch that was killed leaves its stack and browser, which would slow down all that follow.
  killBelow(temporary);
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  const seconds = (performance.now() - startedAt) / 1_000;
  const killed = `was killed after ${Math.round(seconds)} s`;
  const left = isOpen ? `${killed}: its tests left something open` : undefined;
  const problem = isLate ? killed : (left ?? problemOf(how, result, errors));
  return { batch, seconds, problem, output, ...result };
}

/** A process that ends badly although no test failed, by an exception after them, has said why on its standard error. */
function problemOf(how: number | string, result: Result | undefined, errors: string): string | undefined {
  if (result?.counts === undefined) return `ended with ${how} before its tests did`;
  if (how === 0) return undefined;
  const isTold = result.failures !== "";
  return isTold ? `ended with ${how}` : `ended with ${how} although no test failed:\n${errors.trim()}`;
}

/** Undefined while it is not there or being written. */
function readResult(path: string): Result | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Result;
  } catch {
    return undefined;
  }
}
