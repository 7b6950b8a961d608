// Every process of the stack is killed or hung in turn, at a random moment of a server's day; the day must end as always.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join as pathJoin } from "node:path";
import { after, before, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { createRandom, until } from "@svc/local-stack/testing";
import { blockNameAt, breakFloorBlock, join, type Player } from "../flow/player.ts";
import { runSvc, type Stack, startStack, withoutGame } from "../flow/stack.ts";
import { freeze } from "./processes.ts";

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

/** Longer than the lease of a leader lasts. */
const hangMs = 8_000;

const settings = ["--set", "lifecycle.wake_cooldown=1s", "--set", "lifecycle.stop_notice=1s"];

let stack: Stack;
before(async () => {
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
  return until(
    async () => {
      const call = path.includes("/internal/") ? stack.internal : stack.external;
      const answer = await call(method, path, body);
      if (answer.status === wanted) return answer;
      const text = `${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`;
      assert.ok(answer.status === 503 || answer.status === 429, text);
      throw new Error(text);
    },
    60_000,
    `${method} ${path} to answer ${wanted}`,
  );
}

type Info = { phase: string; ready: boolean; endpointAddress?: string };

async function phaseBecomes(wanted: string): Promise<Info> {
  return until(
    async () => {
      const { body, status } = await stack.internal("GET", "/api/v1/internal/servers/survival/status");
      const info = body as Info;
      return status === 200 && info.phase === wanted && info.ready === (wanted === "Running")
        ? info
        : undefined;
    },
    60_000,
    `survival to be ${wanted}`,
  );
}

async function joinPatiently(name: string): Promise<Player> {
  return until(
    async () => {
      const { endpointAddress } = await phaseBecomes("Running");
      return join(endpointAddress ?? "", name);
    },
    60_000,
    `${name} to join`,
  );
}

/** Joins and digs; a player whose connection dies with the killed process comes back and digs again. */
async function digPatiently(name: string, turn: number) {
  return until(
    async () => {
      const visitor = await joinPatiently(name);
      const lost = once(visitor.bot, "end").then(() => Promise.reject(new Error("the connection was lost")));
      lost.catch(() => undefined);
      return Promise.race([breakFloorBlock(visitor, turn), lost]).finally(() => visitor.leave());
    },
    60_000,
    `${name} to dig`,
  );
}

function pidOf(name: string): number {
  const found = stack
    .file()
    .processes.find((process) => process.name === name || process.name.startsWith(`${name}-`));
  assert.ok(found, `stack.json names no process ${name}`);
  return found.pid;
}

/** `SVC_FAULT_SEED=<seed>` repeats the moments of a failed run. */
const seed = Number(process.env["SVC_FAULT_SEED"] ?? randomInt(2 ** 31));
const random = createRandom(seed);
const someTime = () => new Promise((wake) => setTimeout(wake, random() * dayMs));

/** What happens to a process in the middle of a day; each resolves once the process works again. */
const fates: Record<string, (victim: string) => Promise<void>> = {
  killed: async (victim) => {
    const pid = pidOf(victim);
    process.kill(pid, "SIGKILL");
    await until(() => pidOf(victim) !== pid, 30_000, `${victim} to be started again`);
  },
  hung: async (victim) => {
    const resume = freeze(stack, victim);
    await new Promise((wake) => setTimeout(wake, hangMs));
    resume();
  },
};

const supervisor = "the supervisor";

/** What an owner does whose stack lost its supervisor: start it again on the same data. */
async function restartSupervisor(): Promise<void> {
  const file = JSON.parse(readFileSync(pathJoin(stack.dataDir, "supervisor.json"), "utf8")) as {
    pid: number;
  };
  process.kill(file.pid, "SIGKILL");
  const args = ["up", "--detach", "--ports", "auto", "--data", stack.dataDir];
  const up = await runSvc([...args, ...withoutGame, ...settings]);
  assert.equal(up.code, 0, up.stderr);
  assert.match(up.stderr, /stopped processes of an earlier run/);
}

const table: [victim: string, fate: string, inject: () => Promise<void>][] = [
  ...Object.entries(fates).flatMap(([fate, inject]) =>
    victims.map((victim): [string, string, () => Promise<void>] => [victim, fate, () => inject(victim)]),
  ),
  [supervisor, "killed and started again", restartSupervisor],
];

for (const [turn, [victim, fate, inject]] of sampleOf(table, 2).entries()) {
  test(`a server's day ends as always when ${victim} is ${fate}, seed ${seed}`, async () => {
    const injected = someTime().then(inject);
    await patiently("POST", "/api/v1/internal/servers/survival/wake", 202, { mc_uuid: player });
    const broken = await digPatiently("alice", turn);
    await injected;
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
