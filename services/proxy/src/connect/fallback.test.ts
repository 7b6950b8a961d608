import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { patience } from "@svc/local-stack/testing";
import { until } from "@svc/minecraft/testing";
import { type Fixture, runningAt, runOf, serverInfo, startFixture } from "../testing/fixture.ts";
import type { Game } from "../testing/game-server.ts";
import { text } from "../testing/raw-player.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const withSurvival = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};

async function startGameProcess(t: TestContext): Promise<ChildProcess & { address: string }> {
  const program = fileURLToPath(new URL("../testing/game-server-main.ts", import.meta.url));
  const child = spawn(process.execPath, [program, runOf("survival").secret], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL"))
      await once(child, "exit");
  });
  assert(child.stdout);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return Object.assign(child, { address: line.toString().trim() });
}

test(
  "when a server is killed its player stays connected, moves to the lobby and is told so",
  limit,
  async (t) => {
    const child = await startGameProcess(t);
    await using fixture = await startFixture(
      {},
      {
        prepare: ({ service }) =>
          void service.servers.set("survival", runningAt("survival", { address: child.address } as Game)),
      },
    );
    const alice = await fixture.passRaw(fixture.account("alice"), host);
    await fixture.service.until(() => fixture.service.calls.some((call) => call.includes("/join-event")));
    child.kill("SIGKILL");
    await alice.hears(/connection to survival was lost/);
    assert.deepEqual([fixture.lobby.players.has("alice"), alice.state.isClosed], [true, false]);
  },
);

test(
  "a player who loses a server while the lobby is down is disconnected with the server's reason",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const alice = await fixture.passRaw(fixture.account("alice"), host);
    const session = await fixture.survival.player("alice");
    fixture.lobby.refuseWith("The lobby is full");
    session.kick("Out of memory");
    assert.match(await alice.isKicked(), /survival sent you to the lobby: Out of memory/);
  },
);

test("a server's kick reason keeps the client's language and loses its style", limit, async () => {
  await using fixture = await startFixture({}, withSurvival);
  const alice = await fixture.passRaw(fixture.account("alice"), host);
  const translate = "multiplayer.disconnect.server_shutdown";
  (await fixture.survival.player("alice")).kick({ translate, color: "red", extra: [{ text: " §4now" }] });
  await alice.hears(/^survival sent you to the lobby: multiplayer\.disconnect\.server_shutdown now$/);
  assert.equal(fixture.lobby.players.size, 1);
});

test("players of a lobby or gate that stops are disconnected with its reason", limit, async () => {
  await using fixture = await startFixture();
  const alice = await fixture.passRaw(fixture.account("alice"), "play.example");
  (await fixture.lobby.player("alice")).kick("The lobby restarts");
  assert.equal(await alice.isKicked(), "The lobby restarts");
  const bob = await fixture.raw(fixture.account("bob"), "play.example");
  (await fixture.gate.player("bob")).player.connection.destroy();
  assert.match(await bob.isKicked(), /gate is not available/);
});

test(
  "a server that cannot be reached brings the player to the lobby, and is no longer a target",
  limit,
  async () => {
    await using fixture = await startFixture(
      {},
      {
        prepare: ({ service }) =>
          void service.servers.set("survival", runningAt("survival", { address: "127.0.0.1:1" } as Game)),
      },
    );
    const alice = await fixture.passRaw(fixture.account("alice"), host);
    await alice.hears(/survival cannot be reached/);
    assert.equal(fixture.lobby.players.size, 1);
    assert.equal(fixture.service.calls.filter((call) => call.includes("/wake")).length, 0);
  },
);

test("entering the address of gate or lobby leads through the gate into the lobby", limit, async () => {
  await using fixture = await startFixture();
  for (const name of ["login", "lobby"]) {
    await fixture.passRaw(fixture.account(name), `${name}.play.example`);
    await fixture.lobby.player(name);
  }
  assert(!fixture.service.calls.some((call) => call.includes("/join-event")));
});

test("a second login ends the first, whose late answers have no effect", limit, async () => {
  await using fixture = await startFixture(
    {},
    {
      prepare: ({ service }) => void service.servers.set("survival", serverInfo("survival")),
    },
  );
  const { promise: later, resolve: answerNow } = Promise.withResolvers<void>();
  fixture.service.answers.set("lifecycle.server.wake-for-player", async () => {
    await later;
    return {
      status: 202,
      body: { name: "survival", desiredState: "Running", phase: "Starting", ready: false },
    };
  });
  const alice = fixture.account("alice");
  const first = await fixture.passRaw(alice, host);
  await fixture.service.until(() => fixture.service.calls.some((call) => call.includes("/wake")));
  const second = await fixture.raw(alice, "play.example");
  assert.match(await first.isKicked(), /from somewhere else/);
  await fixture.gate.until(() => fixture.gate.players.has("alice"));
  const calls = fixture.service.calls.length;
  answerNow();
  const polls = () =>
    fixture.service.calls.slice(calls).filter((call) => call === "GET /api/v1/servers").length;
  await fixture.service.until(() => polls() >= 3);
  assert(!fixture.service.calls.slice(calls).some((call) => call.includes("/survival/status")));
  assert.deepEqual([fixture.gate.players.size, second.state.isClosed], [1, false]);
});

test("forty switches in a row cross no packet and leave one connection", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_ACTION_BURST: "1000" }, withSurvival);
  const alice = await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
  await alice.until(() => alice.state.worlds === 2);
  const first = ({ messages }: Game) => messages.filter(({ channel }) => channel === "test:first").length;
  let here = "survival";
  for (let turn = 0; turn < 40; turn += 1) {
    const there = here === "survival" ? "lobby" : "survival";
    const { worlds } = alice.state;
    alice.send("custom_payload", text("test:last"), text(here));
    alice.command(there === "lobby" ? "felis lobby" : "felis go survival");
    // Words to the old server, which come while the new one is being reached, are its own or nobody's.
    for (let word = 0; word < 5; word += 1) alice.send("custom_payload", text("test:between"), text(here));
    await alice.until(() => alice.state.worlds > worlds);
    here = there;
    alice.send("custom_payload", text("test:first"), text(here));
    const game = here === "lobby" ? fixture.lobby : fixture.survival;
    await game.until(() => first(game) > Math.floor(turn / 2));
  }
  for (const [name, { messages }] of Object.entries({ survival: fixture.survival, lobby: fixture.lobby })) {
    const ours = messages.filter(({ channel }) => channel.startsWith("test:"));
    assert(
      ours.every(({ words }) => words.slice(1) === name),
      `nothing for others came to ${name}`,
    );
    assert(ours.some(({ channel }) => channel === "test:between") || name === "lobby");
  }
  await until(
    () => fixture.gate.connections + fixture.lobby.connections + fixture.survival.connections === 1,
  );
  assert.equal(fixture.survival.players.size, 1);
});

test("a chat line sent between two worlds waits until the client is in the next one", limit, async () => {
  await using fixture = await startFixture({}, withSurvival);
  const alice = await fixture.passRaw(fixture.account("alice"), host);
  (await fixture.survival.player("alice")).kick("Server closed");
  await alice.hears(/survival sent you to the lobby/);
  const inLobby = alice.seen.slice(alice.seen.lastIndexOf("configuration finish_configuration"));
  const [login, line] = [inLobby.indexOf("play login"), inLobby.indexOf("play system_chat")];
  assert(login >= 0 && line > login, inLobby.join("\n"));
});
