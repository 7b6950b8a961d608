// The central use case, from `npm run up` to a player in a woken world (docs/reference/http.md#faces).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { blockNameAt, breakFloorBlock, join } from "./player.ts";
import { type Stack, startStack, withoutGame } from "./stack.ts";

type Info = { name: string; phase: string; ready: boolean; playersOnline: number; endpointAddress?: string };

let stack: Stack;
before(async () => {
  // The arrival window would keep an empty server up for three minutes; the rule itself is tested in lifecycle.
  const settings = ["--set", "lifecycle.arrival_window=2s", "--set", "lifecycle.count_interval=2s"];
  stack = await startStack([...withoutGame, ...settings]);
});
after(() => stack?.stop());

const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

async function statusOf(name: string): Promise<Info> {
  const answer = await stack.internal("GET", `/api/v1/internal/servers/${name}/status`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body as Info;
}

async function wakeAndWait(name: string): Promise<string> {
  await until(
    async () => {
      const wake = await stack.internal("POST", `/api/v1/internal/servers/${name}/wake`, { mc_uuid: player });
      return wake.status === 202;
    },
    60_000,
    `${name} to accept a wake`,
  );
  const ready = await until(
    async () => {
      const info = await statusOf(name);
      return info.phase === "Running" && info.ready && info.endpointAddress ? info : undefined;
    },
    60_000,
    `${name} to be ready`,
  );
  return ready.endpointAddress ?? "";
}

test("an owner creates a server, a player wakes it, plays, leaves, and the world is kept", async () => {
  await stack.becomeOwner();
  const created = await stack.external("POST", "/api/v1/servers", {
    name: "survival",
    subdomain: "survival",
    autostartPolicy: "public",
    idleStopSeconds: 60,
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.deepEqual(created.body, { name: "survival", subdomain: "survival", desiredState: "Stopped" });

  const address = await wakeAndWait("survival");
  const first = await join(address, "alice");
  const broken = await breakFloorBlock(first);
  const joined = await stack.internal("POST", "/api/v1/internal/servers/survival/join-event", {
    mc_uuid: player,
  });
  assert.equal(joined.status, 204, JSON.stringify(joined.body));
  await until(
    async () => {
      const { body } = await stack.internal("GET", "/api/v1/servers");
      return (
        (body as { servers: Info[] }).servers.find((info) => info.name === "survival")?.playersOnline === 1
      );
    },
    15_000,
    "the player to be counted",
  );
  await first.leave();

  await until(
    async () => (await statusOf("survival")).phase === "Stopped",
    110_000,
    "the empty server to stop by itself",
  );
  const again = await join(await wakeAndWait("survival"), "alice");
  assert.equal(blockNameAt(again, broken), "air");
  await again.leave();

  const events = await stack.svc(
    "events",
    "svc.evt.lifecycle.server.phase-changed.*",
    "--since",
    "1h",
    "--no-follow",
    "--json",
  );
  assert.equal(events.code, 0, events.stderr);
  const phases = events.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).data.to as string);
  assert.deepEqual(
    phases.slice(-7),
    ["Stopped", "Starting", "Running", "Stopping", "Stopped", "Starting", "Running"].slice(-phases.length),
  );
});
