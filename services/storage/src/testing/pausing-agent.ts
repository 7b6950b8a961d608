// The real world agent, paused at the step that a test names (a file `pause-<step>` in the folder `--pause-dir`): `<mode>` before it
// starts, `<mode>-midway` when part of an archive has passed the internal face, `<mode>-done` when its work is done and its
// result not printed yet. Killed there, it ends as it would in production. Jobs without an archive are not paused.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";

const agent = testProgram(fileURLToPath(new URL("../../../world-agent/src/main.ts", import.meta.url)));
const args = process.argv.slice(2);
const optionOf = (option: string) => args.find((one) => one.startsWith(option))?.slice(option.length);
const folder = optionOf("--pause-dir=") ?? "";
type AgentTask = { mode: string; to?: { url?: string }; from?: { url?: string } };
// biome-ignore lint/style/noProcessEnv: this is how a Job is told its task
const env = process.env;
const task = JSON.parse(env["SVC_TASK"] ?? "{}") as AgentTask;
const place = [task.to, task.from].find((one) => one?.url !== undefined);

async function step(name: string): Promise<void> {
  if (optionOf("--archive=") === undefined && !place) return;
  writeFileSync(join(folder, `at-${name}`), String(process.pid));
  while (existsSync(join(folder, `pause-${name}`))) await delay(10);
}

const midwayBytes = 128 << 10;

/** The URL at which the agent reaches the internal face through this process, so that its stream can be paused midway. */
async function proxyUrl(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  let passed = 0;
  let isPaused = false;
  const pass = async (from: Socket, to: Socket) => {
    for await (const chunk of from) {
      passed += (chunk as Buffer).length;
      if (passed > midwayBytes && !isPaused) {
        isPaused = true;
        await step(`${task.mode}-midway`);
      }
      if (!to.write(chunk as Buffer)) await once(to, "drain");
    }
    to.end();
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    pass(near, far).catch(cut);
    pass(far, near).catch(cut);
  });
  server.unref().listen(0, "127.0.0.1");
  await once(server, "listening");
  const to = new URL(url);
  to.port = String((server.address() as AddressInfo).port);
  return to.href;
}

await step(task.mode);
if (place?.url !== undefined) place.url = await proxyUrl(place.url);
const child = spawn(process.execPath, [agent, ...args.filter((one) => !one.startsWith("--pause-dir="))], {
  stdio: ["ignore", "pipe", "inherit"],
  env: { ...env, SVC_TASK: JSON.stringify(task) },
});
// A test that kills this process means to kill the agent too.
process.once("SIGTERM", () => child.kill("SIGTERM"));
const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
await step(`${task.mode}-done`);
process.stdout.write(output);
process.exitCode = typeof code === "number" ? code : 1;
