// A step of a build as its Job runs it, which first notes that it runs and then waits while the test holds this step:
// `node agent.ts CONTROL STEP --FOLDER=PATH …`. Everything else is the shipped agent.

import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const [control = "", step = ""] = process.argv.slice(2);
const { build_id } = JSON.parse(process.env["SVC_BUILD_TASK"] ?? "{}") as { build_id?: string };
appendFileSync(join(control, "runs"), `${build_id} ${step}\n`);
while (existsSync(join(control, `hold-${step}`))) await delay(20);
process.argv.splice(2, 1);
await import("../../../services/build-agent/src/main.ts");
