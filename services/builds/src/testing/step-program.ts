// Stands in for the programs of a build's steps: does what the test's file `<id of the build>.json`, else `default.json`,
// says for this step. `node step-program.ts CONTROL_DIR STEP --FOLDER=PATH …`, as the Job runs it.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

type StepScript = {
  print?: string[];
  /** Prints so many lines more, as fast as it can. */
  flood?: number;
  /** Waits until this file of the control folder is gone. */
  waitWhile?: string;
  message?: string;
  exit?: number;
};
export type BuildScript = Record<string, StepScript>;

const [control = "", step = ""] = process.argv.slice(2);
// biome-ignore lint/style/noProcessEnv: a program of the tests
const { SVC_BUILD_TASK = "{}", SVC_TERMINATION_LOG = "" } = process.env;
const task = JSON.parse(SVC_BUILD_TASK) as { build_id: string };
const own = join(control, `${task.build_id}.json`);
const file = existsSync(own) ? own : join(control, "default.json");
appendFileSync(join(control, "runs"), `${task.build_id} ${step}\n`);
const script = (JSON.parse(readFileSync(file, "utf8")) as BuildScript)[step] ?? {};
if (step === "probe-user-namespaces") process.exit(existsSync(join(control, "host-users")) ? 1 : 0);
const print = (text: string) =>
  new Promise<void>((resolve) => {
    process.stdout.write(text, () => resolve());
  });

for (const line of script.print ?? []) await print(`${line}\n`);
const group = 1_000;
for (let at = 0; at < (script.flood ?? 0); at += group)
  await print(Array.from({ length: group }, (_, n) => `flood ${at + n} ${"x".repeat(80)}\n`).join(""));
while (script.waitWhile !== undefined && existsSync(join(control, script.waitWhile))) await delay(20);
if (script.message !== undefined) writeFileSync(SVC_TERMINATION_LOG, script.message);
process.exitCode = script.exit ?? 0;
