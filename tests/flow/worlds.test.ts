// A world that moves, is reclaimed while idle, restored on demand and cloned: from `npm run up`, with real players.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { blockNameAt, breakFloorBlock, join, type Player } from "./player.ts";
import { type Stack, startStack, withoutGame } from "./stack.ts";

type Info = { phase: string; ready: boolean; nodeName?: string; endpointAddress?: string };
type Move = { id: string; state: string; error?: string; targetPVC: string };
type Run = { state: string; summary: Record<string, number>; notes: string[] };

let stack: Stack;
before(async () => {
  const settings = ["--set", "lifecycle.arrival_window=2s", "--set", "lifecycle.wake_cooldown=0s"];
  stack = await startStack([...withoutGame, ...settings]);
  await stack.becomeOwner();
});
after(() => stack?.stop());

const name = "mover";
const path = `/api/v1/servers/${name}`;
const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

async function call<T>(method: string, where: string, status: number, body?: unknown): Promise<T> {
  const answer = await stack.external(method, where, body);
  assert.equal(answer.status, status, `${method} ${where}: ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

async function statusOf(server = name): Promise<Info> {
  const answer = await stack.internal("GET", `/api/v1/internal/servers/${server}/status`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body as Info;
}

async function enter(server = name): Promise<Player> {
  await until(
    async () => {
      const at = `/api/v1/internal/servers/${server}/wake`;
      const wake = await stack.internal("POST", at, { mc_uuid: player });
      return wake.status === 202;
    },
    60_000,
    "a wake to be accepted",
  );
  const ready = await until(
    async () => {
      const info = await statusOf(server);
      return info.phase === "Running" && info.ready && info.endpointAddress ? info : undefined;
    },
    60_000,
    "the server to be ready",
  );
  return join(ready.endpointAddress ?? "", "alice");
}

async function rest(): Promise<void> {
  await call("POST", `${path}/stop`, 202);
  await until(async () => (await statusOf()).phase === "Stopped", 60_000, "the server to stop");
}

const movedTo = (targetNode: string) =>
  until(
    async () => {
      const move = await call<Move>("GET", `${path}/migrations`, 200);
      assert.notEqual(move.state, "failed", `${targetNode}: ${move.error}`);
      return move.state === "succeeded" ? move : undefined;
    },
    60_000,
    "the move to end",
  );

async function forget(): Promise<void> {
  const client = new pg.Client({ connectionString: stack.file().database_url });
  await client.connect();
  const idle = "update lifecycle.servers set last_active_at = now() - interval '16 days' where name = $1";
  assert.equal((await client.query(idle, [name])).rowCount, 1);
  await client.end();
}

async function svc<T>(...args: string[]): Promise<T> {
  const ran = await stack.svc(...args, "--json");
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  return JSON.parse(ran.stdout) as T;
}

test("a world moves to the other node, is reclaimed when it is forgotten, comes back from its archive, and is cloned", async () => {
  const about = { name, subdomain: name, autostartPolicy: "public", nodeName: "local-1" };
  await call("POST", "/api/v1/servers", 201, about);
  const first = await enter();
  const broken = await breakFloorBlock(first);
  await first.leave();
  await rest();
  // Nobody owns it, so no restore point is due; the move below has the world to itself.
  assert.deepEqual(await svc("backup", "queue"), {
    state: "on",
    running: [],
    waiting: [],
    waiting_total: 0,
  });

  await call("POST", `${path}/migrations`, 202, { targetNode: "local-2" });
  await movedTo("local-2");
  const second = await enter();
  assert.equal((await statusOf()).nodeName, "local-2");
  assert.equal(blockNameAt(second, broken), "air");
  await second.leave();
  await rest();

  await forget();
  const run = await svc<Run>("reaper");
  assert.deepEqual([run.state, run.summary["reaped"]], ["succeeded", 1], JSON.stringify(run));
  const { backups } = await call<{ backups: { id: string; reason: string }[] }>(
    "GET",
    `/api/v1/backups?server=${name}`,
    200,
  );
  assert.deepEqual(
    backups.map(({ reason }) => reason),
    ["inactive_15d", "pre_restore"],
  );

  const third = await enter();
  assert.notEqual(blockNameAt(third, broken), "air", "the reclaimed server has a new world");
  await third.leave();
  await rest();
  const restore = { backup_id: backups[0]?.id, safety_snapshot: false };
  await call("POST", `${path}/restore-backup`, 202, restore);
  await until(
    async () => {
      const { jobs } = await call<{ jobs: { kind: string; state: string; message?: string }[] }>(
        "GET",
        `${path}/jobs`,
        200,
      );
      const job = jobs.find(({ kind }) => kind === "restore");
      assert.notEqual(job?.state, "failed", job?.message);
      return job?.state === "succeeded";
    },
    60_000,
    "the restore to end",
  );
  const fourth = await enter();
  assert.equal(blockNameAt(fourth, broken), "air", "the world is the one of before");
  await fourth.leave();
  await rest();

  await call("POST", `${path}/clone`, 201, { as: "twin", world: "new_backup" });
  await until(
    async () => {
      const { origin } = await call<{ origin?: { state: string; message?: string } }>(
        "GET",
        "/api/v1/servers/twin/origin",
        200,
      );
      assert.notEqual(origin?.state, "failed", origin?.message);
      return origin?.state === "done";
    },
    60_000,
    "the clone to get its world",
  );
  const fifth = await enter("twin");
  assert.equal(blockNameAt(fifth, broken), "air", "the clone has the world of its source");
  const own = await breakFloorBlock(fifth, 1);
  await fifth.leave();
  const sixth = await enter();
  assert.notEqual(blockNameAt(sixth, own), "air", "and the source does not have the clone's");
  await sixth.leave();
});
