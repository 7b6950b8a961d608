// Every process of the stack is killed in turn, at a random moment of a server's day; the day must end as always.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { blockNameAt, breakFloorBlock, join, type Player } from "../flow/player.ts";
import { type Stack, startStack, until, withoutGame } from "../flow/stack.ts";

const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const victims = [
  "gateway-internal",
  "gateway-external",
  "lifecycle",
  "identity",
  "storage",
  "builds",
  "ops-watchdog",
  "nats",
  "postgres",
  "local-cluster",
];
/** A kill falls somewhere into this time after the day began; it covers waking, joining and stopping. */
const dayMs = 6_000;

let stack: Stack;
before(async () => {
  const settings = ["--set", "lifecycle.wake_cooldown=1s", "--set", "lifecycle.stop_notice=1s"];
  stack = await startStack([...withoutGame, ...settings]);
  await stack.becomeOwner();
  const created = await patiently("POST", "/api/v1/servers", 201, {
    name: "survival",
    subdomain: "survival",
    autostartPolicy: "public",
  });
  assert.equal(created.status, 201);
});
after(() => stack?.stop());

/** Repeats a call until it gets the wanted answer, as a client does that meets 503 or a closed port. */
async function patiently(method: string, path: string, wanted: number, body?: unknown) {
  return until(`${method} ${path} to answer ${wanted}`, 60_000, async () => {
    const call = path.includes("/internal/") ? stack.internal : stack.external;
    const answer = await call(method, path, body);
    if (answer.status === wanted) return answer;
    const text = `${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`;
    assert.ok(answer.status === 503 || answer.status === 429, text);
    throw new Error(text);
  });
}

type Info = { phase: string; ready: boolean; endpointAddress?: string };

async function phaseBecomes(wanted: string): Promise<Info> {
  return until(`survival to be ${wanted}`, 60_000, async () => {
    const { body, status } = await stack.internal("GET", "/api/v1/internal/servers/survival/status");
    const info = body as Info;
    return status === 200 && info.phase === wanted && info.ready === (wanted === "Running")
      ? info
      : undefined;
  });
}

async function joinPatiently(name: string): Promise<Player> {
  return until(`${name} to join`, 60_000, async () => {
    const { endpointAddress } = await phaseBecomes("Running");
    return join(endpointAddress ?? "", name);
  });
}

/** Joins and digs; a player whose connection dies with the killed process comes back and digs again. */
async function digPatiently(name: string, turn: number) {
  return until(`${name} to dig`, 60_000, async () => {
    const visitor = await joinPatiently(name);
    const lost = once(visitor.bot, "end").then(() => Promise.reject(new Error("the connection was lost")));
    lost.catch(() => undefined);
    return Promise.race([breakFloorBlock(visitor, turn), lost]).finally(() => visitor.leave());
  });
}

function pidOf(name: string): number {
  const found = stack
    .file()
    .processes.find((process) => process.name === name || process.name.startsWith(`${name}-`));
  assert.ok(found, `stack.json names no process ${name}`);
  return found.pid;
}

/** Kills the process at a random moment and resolves once another pid lives under its name. */
async function killSometime(victim: string): Promise<void> {
  const delayMs = Math.random() * dayMs;
  await new Promise((wake) => setTimeout(wake, delayMs));
  const pid = pidOf(victim);
  process.kill(pid, "SIGKILL");
  await until(`${victim} to be started again (killed after ${Math.round(delayMs)} ms)`, 30_000, () => {
    return pidOf(victim) !== pid;
  });
}

for (const [turn, victim] of sampleOf(victims, 4).entries()) {
  test(`a server's day ends as always when ${victim} is killed`, async () => {
    const killed = killSometime(victim);
    await patiently("POST", "/api/v1/internal/servers/survival/wake", 202, { mc_uuid: player });
    const broken = await digPatiently("alice", turn);
    await killed;
    const stopped = await patiently("POST", "/api/v1/servers/survival/stop", 202);
    assert.deepEqual(stopped.body, { name: "survival", desiredState: "Stopped" });
    await phaseBecomes("Stopped");

    await patiently("POST", "/api/v1/internal/servers/survival/wake", 202, { mc_uuid: player });
    const again = await joinPatiently("alice");
    assert.equal(blockNameAt(again, broken), "air", `the block at ${broken.toString()} is whole again`);
    await again.leave();
    await patiently("POST", "/api/v1/servers/survival/stop", 202);
    await phaseBecomes("Stopped");
  });
}
