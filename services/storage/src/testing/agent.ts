// The real world agent, held where a test says so (a file `hold-<step>` in the archive folder): `<mode>` before it
// begins, `told` when its work is done and its last lines are not yet said. Killed there, it ends as if in the field.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const agent = fileURLToPath(new URL("../../../world-agent/src/main.ts", import.meta.url));
const argument = process.argv.find((one) => one.startsWith("--archive="));
const folder = argument?.slice("--archive=".length) ?? "";
// biome-ignore lint/style/noProcessEnv: this is how a Job is told its task
const { mode } = JSON.parse(process.env["SVC_TASK"] ?? "{}") as { mode: string };

async function step(name: string): Promise<void> {
  if (folder === "") return;
  writeFileSync(join(folder, `at-${name}`), String(process.pid));
  while (existsSync(join(folder, `hold-${name}`))) await delay(10);
}

await step(mode);
const child = spawn(process.execPath, [agent, ...process.argv.slice(2)], {
  stdio: ["ignore", "pipe", "inherit"],
});
// A test that kills this process means the whole of it.
process.once("SIGTERM", () => child.kill("SIGTERM"));
const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
await step(`${mode}-told`);
process.stdout.write(said);
process.exitCode = typeof code === "number" ? code : 1;
