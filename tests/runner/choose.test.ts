import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFiles } from "./choose.ts";

const quick = "libs/mesh/src/a.test.ts";
const security = "tests/security/injection.test.ts";
const flow = "tests/flow/wake.test.ts";
const stack = "tests/security/stack/bad-input.test.ts";
const long = "services/lifecycle/src/run.slow.test.ts";
const table = "services/storage/src/move/killed.sampled.test.ts";
const all = [quick, security, flow, stack, long, table];
const usual = { paths: [], isSlow: false, isWhole: false };

for (const [fact, wanted, chosen] of [
  ["without an option the quick files run", usual, [quick, security]],
  ["--slow runs the others", { ...usual, isSlow: true }, [flow, stack, long, table]],
  ["--whole runs the same files", { ...usual, isWhole: true }, [flow, stack, long, table]],
  ["a named folder runs with all its files", { ...usual, paths: ["services/storage"] }, [table]],
  ["a named slow file runs", { ...usual, paths: [flow] }, [flow]],
  [
    "--slow in a folder runs its slow files",
    { ...usual, paths: ["libs", "services"], isSlow: true },
    [long, table],
  ],
] as const) {
  test(fact, () => assert.deepEqual(chooseFiles(all, wanted), chosen));
}
