// What idle players cost the lobby and the login gate as they ship, each in a process of its own: growth of its memory
// and the processor time it takes. At the gate every player holds a code, so each one is polled for once a second.
// Run alone: node tests/bench/ours/idle-players.ts [players] [seconds]

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Connection, dial, findVersion, offlineUuid } from "@svc/minecraft";
import { startInternalFace } from "../../../services/login-gate/src/testing/internal-face.ts";

const [players = 1_000, seconds = 20] = process.argv.slice(2).map(Number);
const secret = "bench";
const version = findVersion(769);
if (!version) throw new Error("there is no 1.21.4");
const ticksPerSecond = 100;
const settleMs = 3_000;

async function start(service: string, environment: Record<string, string>) {
  const main = fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url));
  const env = { GAME_PORT: "0", SVC_HEALTH_PORT: "0", SVC_FORWARDING_SECRET: secret, ...environment };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { gamePort } = JSON.parse(line) as { gamePort?: number };
    if (gamePort !== undefined) {
      child.stdout.resume();
      return { child, port: gamePort };
    }
  }
  throw new Error(`${service} did not start`);
}

/** A client that enters the world and then only answers that it is alive. */
async function enter(port: number, name: string): Promise<Connection> {
  if (!version) throw new Error("no version");
  const profile = { uuid: offlineUuid(name), name, properties: [] };
  const connection = await dial(
    { name: "idle", host: "127.0.0.1", port, secret },
    { version, profile, address: "127.0.0.1" },
  );
  const finish = version.configuration.toClient.id("finish_configuration");
  for (let packet = await connection.next(); packet.id !== finish; packet = await connection.next());
  connection.send(version.configuration.toServer.id("finish_configuration"));
  const alive = version.play.toClient.id("keep_alive");
  connection.listen(({ id, reader }) => {
    if (id === alive) connection.send(version.play.toServer.id("keep_alive"), Buffer.from(reader.rest()));
  });
  return connection;
}

const residentMb = ({ pid }: ChildProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function measure(service: string, environment: Record<string, string>) {
  const { child, port } = await start(service, environment);
  const first = await enter(port, "First");
  await delay(settleMs);
  const before = residentMb(child);
  const connections = [first];
  for (let index = 1; index < players; index++) connections.push(await enter(port, `Idle${index}`));
  await delay(settleMs);
  const cpuBefore = cpuSeconds(child);
  await delay(seconds * 1_000);
  const core = (cpuSeconds(child) - cpuBefore) / seconds;
  const growth = residentMb(child) - before;
  const alive = connections.filter(({ isClosed }) => !isClosed).length;
  console.log(
    `${service}: ${alive} of ${players} players, growth ${growth.toFixed(0)} MB (goal 100), ${core.toFixed(3)} core (goal 0.2)`,
  );
  for (const connection of connections) connection.destroy();
  child.kill("SIGTERM");
  await once(child, "exit");
}

await measure("lobby", {});
await using face = await startInternalFace();
await measure("login-gate", {
  SVC_API_BASE_URL: face.baseUrl,
  SVC_SERVICE_TOKEN: face.token,
  SVC_ROOT_DOMAIN: "example.com",
});
