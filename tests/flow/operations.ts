// What `svc` says about updates of a stack that runs.

import assert from "node:assert/strict";
import type { Stack } from "./stack.ts";

type Ran = { code: number; stderr: string; value: Record<string, unknown> };
type Run = (...args: string[]) => Promise<Ran>;

/** Runs `svc … --json` whatever its exit code. */
function runOf(stack: Stack): Run {
  return async (...args) => {
    const { code, stdout, stderr } = await stack.svc(...args, "--json");
    return { code, stderr, value: stdout === "" ? {} : JSON.parse(stdout) };
  };
}

/** Steps of an update and the way back, before and after there is a bundle. */
export async function assertUpdates(stack: Stack): Promise<void> {
  const run = runOf(stack);
  const none = await run("update", "rollback");
  assert.deepEqual([none.code, none.value["kind"]], [1, "none"]);
  assert.equal((await run("update", "plan", "nonsense")).code, 2);
  const checked = await run("update", "--record");
  assert.deepEqual([checked.code, checked.value["recorded"]], [0, true]);
  const taken = await run("db", "backup");
  assert.equal(taken.code, 0, taken.stderr);
  const { name } = taken.value;
  const plan = await stack.svc("update", "plan", "platform");
  assert.equal(plan.code, 0, plan.stderr);
  assert.match(plan.stdout, /^ {2}1\. Take a bundle and read it back$/m);
  assert.match(plan.stdout, /CANNOT BE UNDONE\. Migrations only go forward\./);
  assert.match(plan.stdout, /No migration of this build waits/);
  assert.ok(plan.stdout.includes(`The newest bundle is ${name}`));
  const planned = await run("update", "plan", "proxy", "postgresql");
  const components = planned.value["components"] as { name: string }[];
  assert.deepEqual(
    components.map((one) => one.name),
    ["postgresql", "proxy"],
  );
  const back = await run("update", "rollback");
  assert.deepEqual([back.code, back.value["kind"], back.value["release"]], [0, "reinstall", "0.1.0"]);
}
