// A step of a build as its Job runs it, which first notes that it runs and then waits while the test holds this step:
// `node agent.ts CONTROL STEP --FOLDER=PATH …`. Everything else is the shipped agent.

import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const [control = "", step = ""] = process.argv.slice(2);
const { build_id } = JSON.parse(process.env["SVC_BUILD_TASK"] ?? "{}") as { build_id?: string };
appendFileSync(join(control, "runs"), `${build_id} ${step}\n`);
const printing = join(control, `print-${build_id}`);
while (existsSync(join(control, `hold-${step}`))) {
  if (existsSync(printing)) await print(readFileSync(printing, "utf8"));
  await delay(20);
}
process.argv.splice(2, 1);
await import("../../../services/build-agent/src/main.ts");

async function print(asked: string): Promise<void> {
  const { pace } = await import("../../bench/harness/line-rate.ts");
  await pace({ names: [""], ...JSON.parse(asked) }, (_name, line) => void process.stdout.write(`${line}\n`));
  rmSync(printing);
}
