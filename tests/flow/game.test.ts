// A player's whole way in (docs/reference/proxy.md#join): a Minecraft client, the proxy, the gate, the lobby, real servers, and the
// command line of the person who runs them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectKube, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { type SessionServerForTests, startBot, startSessionServer } from "@svc/minecraft/testing";
import { MinecraftServer } from "@svc/proto";
import pg from "pg";
import { startStrictProxy } from "./online-mode-proxy.ts";
import { type Stack, startStack } from "./stack.ts";
import { type Address, bind, clickTile, codeIn, connectPlayer, type Visitor, visit } from "./visitor.ts";

let stack: Stack;
const visitors: Visitor[] = [];
let sessions: SessionServerForTests;
before(async () => {
  sessions = await startSessionServer();
  stack = await startStack([
    ...["--set", "lifecycle.stop_notice=1s"],
    ...["--set", "lifecycle.wake_cooldown=0s"],
    ...["--set", "lifecycle.auto_restarts=0"],
    ...["--set", `identity.mojang_session_url=${sessions.root}/session/minecraft/hasJoined`],
  ]);
  await stack.setUp();
  await Promise.all(
    Object.entries(policies).map(([name, policy]) =>
      svc("server", "create", name, "--policy", policy, "--claimable"),
    ),
  );
  await breakServer("broken");
});
after(async () => {
  await Promise.allSettled(visitors.map(({ leave }) => leave()));
  await stack?.stop();
  await sessions?.[Symbol.asyncDispose]();
});

const policies = { survival: "public", private: "ownerOnly", club: "allowlist", broken: "public" };

async function svc(...args: string[]): Promise<Record<string, unknown>> {
  const ran = await stack.svc(...args, "--json");
  assert.equal(ran.code, 0, `svc ${args.join(" ")}: ${ran.stderr}${ran.stdout}`);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

/** A server of an image that no node has: every start of it fails after two seconds. */
async function breakServer(name: string): Promise<void> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const { group, version, plural, kind } = MinecraftServer;
  const spec = { image: "svc.local/nothing:1", startup: { timeoutSeconds: 2, readinessTimeoutSeconds: 2 } };
  const servers = resource<never>({ group, version, plural, kind, namespaced: true });
  await kube.patch(servers, { name, namespace: "minecraft" }, { merge: { spec } }).finally(kube.close);
}

async function joinAs(name: string, at: Address): Promise<Visitor> {
  const visitor = await visit(stack, name, at);
  visitors.push(visitor);
  return visitor;
}

/** Whether two players are known to have come with this protocol last. */
function countedAs(protocol: number): () => Promise<boolean> {
  return async () => {
    const client = new pg.Client({ connectionString: stack.file().database_url });
    await client.connect();
    const text = "select mc_uuid from lifecycle.player_versions where protocol = $1";
    const { rowCount } = await client.query(text, [protocol]).finally(() => client.end());
    return rowCount === 2;
  };
}

function blockUnder({ bot }: Visitor): string | undefined {
  return bot.blockAt(bot.entity.position.floored().offset(0, -1, 0))?.name;
}

const address = (server: string) => `${server}.svc.localhost`;

let alice: Visitor;
let bob: Visitor;

test("an unlinked player waits at the gate with a code, links it on the command line, and enters the lobby", async () => {
  alice = await joinAs("alice", "svc.localhost");
  const code = codeIn(await alice.hears(/enter this code/));
  alice.command("felis go survival");
  await alice.hears(/once you are through the login gate/);
  await svc("account", "link", code);
  await alice.hears(/Welcome to the lobby/);
  await alice.isOn("lobby");
});

test("an unowned server is claimed and started from the menu, and its owner joins when it is ready", async () => {
  await clickTile(alice, "survival", /Start.*right-click to claim/);
  await alice.hears(/Claiming survival/);
  await alice.isOn("survival");
  const { body } = await stack.internal("GET", "/api/v1/internal/servers/survival/menu");
  assert.equal((body as { claimable: boolean }).claimable, false);
  for (const name of ["private", "club"]) {
    const claim = { mc_uuid: alice.bot._client.uuid };
    const claimed = await stack.internal("POST", `/api/v1/internal/servers/${name}/claim`, claim);
    assert.equal(claimed.status, 200, JSON.stringify(claimed.body));
  }
});

test("an unlinked player who typed the address of a running server joins it once the code is entered", async () => {
  bob = await joinAs("bob", address("survival"));
  await bind(stack, codeIn(await bob.hears(/enter this code/)));
  await bob.isOn("survival");
  assert(!bob.lines.some((line) => /Welcome to the lobby/.test(line)));
});

test("maintenance is told in the game, and keeps a sleeping server asleep until it ends", async () => {
  const text = "We move to new disks.";
  const { id } = await svc("announce", "create", text, "--maintenance", "--for", "1h", "--public");
  const begun = /Maintenance has begun, for about 60 minutes: We move to new disks\./;
  await Promise.all([alice, bob].map((player) => player.hears(begun)));
  alice.command("felis go private");
  await alice.hears(/private is asleep and cannot be woken during maintenance/);
  const refused = await stack.svc("server", "wake", "private");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /nothing is woken until then: We move to new disks\./);
  const carol = await joinAs("carol", "svc.localhost");
  await carol.hears(/Maintenance ends in about .* We move to new disks\./);
  await carol.leave();
  assert.equal((await svc("announce", "end", String(id), "--yes"))["state"], "over");
  assert.equal([alice, bob].flatMap(({ lines }) => lines.filter((line) => begun.test(line))).length, 2);
});

test("players of a server that restarts are moved to the lobby with the reason", async () => {
  const [restarted] = await Promise.all([
    svc("server", "restart", "survival"),
    ...[alice, bob].map(async (player) => {
      await player.hears(/survival sent you to the lobby|The connection to survival was lost/);
      await player.isOn("lobby");
    }),
  ]);
  assert.equal(restarted["phase"], "Running");
  await svc("server", "stop", "survival", "--wait");
});

test("a player who types the address of a sleeping server wakes it and joins when it is ready", async (context) => {
  await bob.leave();
  const typedAt = performance.now();
  bob = await joinAs("bob", address("survival"));
  await bob.hears(/survival is waking up/);
  await bob.isOn("survival");
  const took = (performance.now() - typedAt) / 1_000;
  context.diagnostic(`from the typed address to the world of a server that slept: ${took.toFixed(1)} s`);
});

test("a player cannot start servers of others by address, command or menu", async () => {
  await bob.leave();
  bob = await joinAs("bob", address("private"));
  await bob.hears(/You may not start private/);
  bob.command("felis go club");
  await bob.hears(/You may not start club/);
  await clickTile(bob, "club", /Can't start/);
  await bob.hears(/club can't be started\. You are not on its allowlist/);
  for (const name of ["private", "club"])
    assert.equal((await svc("server", "status", name))["phase"], "Stopped");
});

test("a server that cannot start fails, and the players who wait for it are told", async () => {
  alice.command("felis go broken");
  await alice.hears(/broken could not start/, { withinMs: 30_000 });
  await alice.isOn("lobby");
});

test("an unknown address leads to the lobby with a message", async () => {
  await bob.leave();
  bob = await joinAs("bob", address("nowhere"));
  await bob.hears(/There is no server at this address/);
  await bob.isOn("lobby");
});

test("a proxy in online mode admits players that the session server confirms, and no others", async () => {
  const proxy = await startStrictProxy(stack);
  try {
    const to = { port: proxy.port, name: "Genuine", version: "1.21.4" };
    const genuine = startBot({ ...to, sessionServer: sessions.root });
    const lines: string[] = [];
    genuine.on("message", (message) => void lines.push(message.toString()));
    await until(() => lines.find((line) => /enter this code/.test(line)), 15_000, "the gate to show a code");
    genuine.quit();
    const kicked = new Promise((resolve) => startBot({ ...to, name: "alice" }).once("kicked", resolve));
    assert.match(JSON.stringify(await kicked), /could not be verified/);
  } finally {
    await proxy.stop();
  }
});

test("a second login of a name ends the older connection; an invalid name is rejected", async () => {
  const again = await joinAs("bob", "svc.localhost");
  assert.match(await bob.ended, /joined from somewhere else/);
  bob = again;
  assert.match(await connectPlayer(stack, "ab", "svc.localhost").ended, /player name is not valid/);
});

test("a killed proxy restarts within seconds, knows its players' links and sends them to their server", async () => {
  const pid = stack.kill("proxy");
  await Promise.all([alice.ended, bob.ended]);
  await until(
    () => stack.file().processes.some((row) => row.name === "proxy" && row.pid !== pid),
    15_000,
    "the proxy to be back",
  );
  bob = await until(() => joinAs("bob", address("survival")), 15_000, "bob to be back");
  await bob.isOn("survival");
});

test("a new server runs the version with which most players came last, and says so", async () => {
  await bob.leave();
  const newest = { host: "svc.localhost", version: "26.1" };
  bob = await joinAs("bob", newest);
  alice = await joinAs("alice", newest);
  await until(countedAs(775), 15_000, "both to be counted with their new version");
  const made = await stack.svc("server", "create", "fresh", "--policy", "public", "--claimable");
  assert.match(
    made.stdout,
    /^Created fresh, stopped, on Minecraft 26\.1-26\.1\.2: 2 of [23] players of the last 7 days/,
  );
  await bob.isOn("lobby");
  bob.command("felis go fresh");
  await bob.isOn("fresh", 60_000);
  await until(() => blockUnder(bob) === "grass_block", 15_000, "the ground below bob");

  await alice.isOn("lobby");
  alice.command("felis go survival");
  await alice.hears(/survival runs 1\.21\.4; your game is 26\.1/, { withinMs: 60_000 });
});
