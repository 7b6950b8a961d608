// Runs the tests: one PostgreSQL for all files, a process of node:test for a batch of them.
// `npm test` runs all files that are quick; `npm test -- libs/mesh tests/flow` all files below those paths. With `--slow` the
// others run: those that start whole stacks, take half a minute (*.slow.test.ts) or have tables that take minutes
// (*.sampled.test.ts), with a sample of each table; with `--whole` the same files run completely.

import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { testProgramsVariable } from "@svc/config/test-program";
import { findFreePort, startPostgres } from "@svc/local-stack";
import { measureSlowness } from "@svc/local-stack/testing";
import { chooseFiles, type Wanted } from "./runner/choose.ts";
import { folderInMemory, runFolderVariable } from "./runner/folder-in-memory.ts";
import { type Batch, chooseNext, inBatches, inOrder, type Places } from "./runner/order.ts";
import { buildTestPrograms } from "./runner/programs.ts";
import { type Ended, endOfRun, isGreen } from "./runner/report.ts";
import { type RunOptions, runBatch } from "./runner/run-batch.ts";

const root = resolve(import.meta.dirname, "..");
const patterns = [
  "{proto,libs,services}/**/*.test.ts",
  "tests/{browser,containers,contract,fault,flow,network,runner,security,soak,kube,s3,smtp}/**/*.test.ts",
];

function testFiles(wanted: Wanted): string[] {
  const all = globSync(patterns, { cwd: root, exclude: (path) => path.includes("node_modules") });
  return chooseFiles(all, {
    ...wanted,
    paths: wanted.paths.map((path) => relative(root, resolve(root, path))),
  });
}

// A batch whose failed test left a handle open would otherwise never end. Whole tables take most of it.
const batchTimeoutMs = 900_000;
const batchGraceMs = 30_000;
const patience = measureSlowness();
const places: Places = patience > 1 ? { all: 2, stacks: 1 } : { all: 3, stacks: 2 };

/** Room for the databases of all tests. In memory: ext4 spends a third of the run on the files of databases that come and go. */
const databaseBytes = 4 * 2 ** 30;

/** Runs all files and prints what they print, one batch after the other; false when one failed. */
async function runAll(files: readonly string[], options: RunOptions): Promise<boolean> {
  const startedAt = performance.now();
  // Whole tables take minutes each: eight in a row went past the time of a batch.
  const waiting = inBatches(inOrder(files), isWhole ? 1 : undefined);
  const running = new Map<Batch, Promise<void>>();
  const ended: Ended[] = [];
  const startNext = () => {
    const batch = options.signal.aborted ? undefined : chooseNext(waiting, [...running.keys()], places);
    if (batch === undefined) return false;
    waiting.splice(waiting.indexOf(batch), 1);
    const end = runBatch(batch, options).then(({ output, ...result }) => {
      running.delete(batch);
      ended.push(result);
      process.stdout.write(output);
      if (result.problem !== undefined) console.log(`${batch.join(", ")} ${result.problem}`);
    });
    running.set(batch, end);
    return true;
  };
  while (startNext() || running.size > 0) {
    while (startNext());
    await Promise.race(running.values());
  }
  console.log(endOfRun(ended, (performance.now() - startedAt) / 1_000));
  return waiting.length === 0 && isGreen(ended);
}

const args = process.argv.slice(2);
const isWhole = args.includes("--whole");
const paths = args.filter((argument) => !argument.startsWith("--"));
const files = testFiles({ paths, isSlow: args.includes("--slow"), isWhole });
const nodeArgs = args.filter((argument) => /^--(?!slow$|whole$)/.test(argument));
if (files.length === 0) {
  console.error("no test file matches; name folders or files relative to the checkout");
  process.exit(1);
}
if (patience > 1)
  console.log(`This machine is ${patience} times slower than usual: tests wait longer by that factor.`);
const interrupted = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => interrupted.abort());
const dataDir = mkdtempSync(join(tmpdir(), "svc-test-"));
const memoryDir = mkdtempSync(join(folderInMemory(databaseBytes) ?? dataDir, "svc-test-"));
const postgres = await startPostgres({
  dataDir: join(memoryDir, "postgres"),
  port: await findFreePort(),
  password: "test",
  isDurable: false,
});
const env = {
  ...process.env,
  [testProgramsVariable]: await buildTestPrograms(root),
  SVC_TEST_DATABASE_URL: postgres.url,
  [runFolderVariable]: memoryDir,
  SVC_TEST_PATIENCE: String(patience),
  ...(isWhole && { SVC_TESTS: "whole" }),
};
let isPassed = false;
try {
  const { signal } = interrupted;
  const timeoutMs = batchTimeoutMs * patience;
  const graceMs = batchGraceMs * patience;
  isPassed = await runAll(files, { root, dir: dataDir, env, nodeArgs, timeoutMs, graceMs, signal });
} finally {
  await postgres.stop();
  for (const dir of [dataDir, memoryDir]) rmSync(dir, { recursive: true, force: true });
}
process.exit(isPassed ? 0 : 1);
