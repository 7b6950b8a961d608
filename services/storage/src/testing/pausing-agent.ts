// The real world agent, held where a test says so (a file `hold-<step>` in the folder `--hold`): `<mode>` before it
// begins, `<mode>-midway` when some of an archive went over the internal face, `<mode>-told` when its work is done and its
// last lines are not yet said. Killed there, it ends as if in the field. Jobs that see no archive are not held.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const agent = fileURLToPath(new URL("../../../world-agent/src/main.ts", import.meta.url));
const args = process.argv.slice(2);
const optionOf = (option: string) => args.find((one) => one.startsWith(option))?.slice(option.length);
const folder = optionOf("--hold=") ?? "";
type Told = { mode: string; to?: { url?: string }; from?: { url?: string } };
// biome-ignore lint/style/noProcessEnv: this is how a Job is told its task
const env = process.env;
const task = JSON.parse(env["SVC_TASK"] ?? "{}") as Told;
const place = [task.to, task.from].find((one) => one?.url !== undefined);

async function step(name: string): Promise<void> {
  if (optionOf("--archive=") === undefined && !place) return;
  writeFileSync(join(folder, `at-${name}`), String(process.pid));
  while (existsSync(join(folder, `hold-${name}`))) await delay(10);
}

const midwayBytes = 128 << 10;

/** Where the agent reaches the internal face through this process, so that its stream can be held in the middle. */
async function detour(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  let passed = 0;
  let isHeld = false;
  const pass = async (from: Socket, to: Socket) => {
    for await (const chunk of from) {
      passed += (chunk as Buffer).length;
      if (passed > midwayBytes && !isHeld) {
        isHeld = true;
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
if (place?.url !== undefined) place.url = await detour(place.url);
const child = spawn(process.execPath, [agent, ...args.filter((one) => !one.startsWith("--hold="))], {
  stdio: ["ignore", "pipe", "inherit"],
  env: { ...env, SVC_TASK: JSON.stringify(task) },
});
// A test that kills this process means the whole of it.
process.once("SIGTERM", () => child.kill("SIGTERM"));
const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
await step(`${task.mode}-told`);
process.stdout.write(said);
process.exitCode = typeof code === "number" ? code : 1;
