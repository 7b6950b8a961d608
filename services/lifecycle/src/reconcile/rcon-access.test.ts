// Against the RCON server of libs/rcon on its own loopback address, like a Service.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterEach, describe, test } from "node:test";
import type { Kube } from "@svc/kube";
import { type RconServer, startRconServer } from "@svc/rcon";
import { rconPort } from "../cluster/resource.ts";
import {
  aServer,
  aService,
  defaults,
  observedRunning,
  password,
  startingSince,
} from "../testing/observed.ts";
import type { Observed } from "./observed.ts";
import { createRconAccess } from "./rcon-access.ts";

const never = new AbortController().signal;
// These tests do not read from the cluster.
const kube = {} as Kube;
const access = createRconAccess({ kube, settings: { ...defaults, probe_timeout: 1_000 } });
const servers = new Set<RconServer>();
afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

async function start(answers: Record<string, string> = {}, host = freeHost()) {
  const commands: string[] = [];
  const onCommand = (command: string) => {
    commands.push(command);
    return answers[command] ?? "";
  };
  servers.add(await startRconServer({ host, port: rconPort, password, onCommand, failureDelayMs: 1 }));
  return { host, commands };
}

function freeHost(): string {
  return `127.${randomInt(112, 126)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
}

/** Resolves when the next connection that this process tries to make has failed. */
function connectionRefused(): Promise<void> {
  const channel = "net.client.socket";
  return new Promise((resolve) => {
    const onSocket = (message: unknown) => {
      unsubscribe(channel, onSocket);
      (message as { socket: Socket }).socket.once("error", () => resolve());
    };
    subscribe(channel, onSocket);
  });
}

function observed(host: string, changes: Partial<Observed> = {}): Observed {
  return observedRunning({ service: aService(aServer(), host), ...changes });
}

describe("a probe", () => {
  const lists: [fact: string, reply: string, count: { online: number; max: number } | undefined][] = [
    ["reads the vanilla reply", "There are 2 of a max of 20 players online: a, b", { online: 2, max: 20 }],
    ["reads the legacy reply", "There are 1/8 players online:", { online: 1, max: 8 }],
    [
      "reads the hidden players of a plugin",
      "§6There are §c3/1§6 out of maximum §c50§6 players online.",
      { online: 4, max: 50 },
    ],
    ["is enough without a count", "Unknown command", undefined],
  ];
  for (const [fact, reply, count] of lists) {
    test(fact, async () => {
      const { host } = await start({ list: reply });
      assert.deepEqual(await access.probe(observed(host), never), {
        kind: "reached",
        ...(count && { count }),
      });
    });
  }

  test("with a wrong password fails and says so", async () => {
    const { host } = await start();
    const probe = await access.probe(
      observed(host, { secret: { kind: "present", password: "wrong" } }),
      never,
    );
    assert.equal(probe.kind, "failed");
    assert.match(probe.kind === "failed" ? probe.problem : "", /password/);
  });

  test("of a starting server waits for the route to its pod", async () => {
    const host = freeHost();
    const refused = connectionRefused();
    const probing = access.probe(observed(host, { status: startingSince(1) }), never);
    await refused;
    await start({ list: "There are 0 of a max of 20 players online:" }, host);
    assert.equal((await probing).kind, "reached");
  });

  test("of a running server fails at once when its port is closed", async () => {
    assert.equal((await access.probe(observed(freeHost()), never)).kind, "failed");
  });
});

test("announcements are yellow and in both languages", async () => {
  const { host, commands } = await start();
  assert.equal(await access.announce(observed(host), "stop-soon"), true);
  const [, json = ""] = /^tellraw @a (.*)$/.exec(commands[0] ?? "") ?? [];
  assert.deepEqual(JSON.parse(json), {
    text: "The server stops in 30 seconds. 服务器将在 30 秒后关闭。",
    color: "yellow",
  });
  assert.equal(await access.announce(observed(freeHost()), "stop-soon"), false);
});

test("a world is saved with a flush, and a missing server is not an error", async () => {
  const { host, commands } = await start();
  await access.saveWorld(observed(host));
  assert.deepEqual(commands, ["save-all flush"]);
  await access.saveWorld(observed(freeHost()));
});
