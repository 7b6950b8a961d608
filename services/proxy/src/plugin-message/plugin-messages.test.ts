// Requests of plugins on real sockets: a server behind the proxy asks, and hears what any player could read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/minecraft/testing";
import { type Fixture, runningAt, serverInfo, startFixture } from "../testing/fixture.ts";
import { startGame } from "../testing/game-server.ts";
import { bungeeChannel, writeAnswer } from "./codec.ts";

const limit = { timeout: 60_000 };
const on = { SVC_PROXY_PLUGIN_MESSAGES: "true" };
const withSurvival = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};

/** A linked player on the server `survival`. */
async function onSurvival(fixture: Fixture) {
  const account = fixture.account("alice");
  const player = fixture.join(account, "survival.play.example");
  await fixture.release(account);
  await fixture.survival.player("alice");
  const ask = (...words: string[]) =>
    fixture.survival.players
      .get("alice")
      ?.pluginMessage({ channel: bungeeChannel, data: writeAnswer(words) });
  const answers = () =>
    fixture.survival.messages.filter(({ channel }) => channel === bungeeChannel).map(({ words }) => words);
  return { account, player, ask, answers };
}

test("a server learns its name, the servers, counts, and who the player is", limit, async () => {
  await using fixture = await startFixture(on, withSurvival);
  fixture.service.servers.set("creative", serverInfo("creative"));
  const { account, ask, answers, player } = await onSurvival(fixture);
  const hears = async (...words: string[]) => {
    const expected = writeAnswer(words).toString();
    await until(() => answers().includes(expected));
  };
  ask("GetServer");
  await hears("GetServer", "survival");
  const about = { mc_uuid: account.uuid, name: "alice", proxy: "one", since: new Date().toISOString() };
  fixture.service.online = [
    { ...about, server: "survival" },
    { ...about, server: "creative" },
  ];
  const counts = (server: string, count: number) => writeAnswer(["PlayerCount", server], count).toString();
  for (const [server, count] of [
    ["ALL", 2],
    ["survival", 1],
  ] as const) {
    ask("PlayerCount", server);
    await until(() => answers().includes(counts(server, count)));
  }
  ask("UUID");
  await hears("UUID", account.uuid.replaceAll("-", ""));
  ask("PlayerCount", "nothing-there");
  await until(() => {
    ask("GetServers");
    return answers().includes(writeAnswer(["GetServers", "lobby, creative, survival"]).toString());
  });
  assert.ok(!player.state.channels.includes(bungeeChannel), "the client hears nothing of it");
  await player.leave();
});

test("a player is sent to the lobby, and to a server as by /felis go", limit, async () => {
  await using fixture = await startFixture(on, withSurvival);
  await using creative = await startGame();
  fixture.service.servers.set("creative", runningAt("creative", creative));
  const { ask, answers, player } = await onSurvival(fixture);
  // A switch to what the proxy does not know yet would do nothing.
  await until(() => {
    ask("GetServers");
    return answers().some((words) => words.includes("creative"));
  });
  ask("Connect", "creative");
  await creative.player("alice");
  creative.players
    .get("alice")
    ?.pluginMessage({ channel: bungeeChannel, data: writeAnswer(["Connect", "lobby"]) });
  await fixture.lobby.player("alice");
  await player.leave();
});

test("what acts on others, names others or leads nowhere does nothing", limit, async () => {
  await using fixture = await startFixture(on, withSurvival);
  const { ask, answers, player } = await onSurvival(fixture);
  const wakes = () => fixture.service.calls.filter((call) => call.includes("/wake")).length;
  const before = wakes();
  const requests: string[][] = [
    ["ConnectOther", "bob", "lobby"],
    ["KickPlayer", "alice", "out"],
    ["PlayerList", "ALL"],
    ["IPOther", "bob"],
    ["Forward", "ALL", "channel"],
    ["Connect", "login"],
    ["Connect", "nothing-there"],
    ["Connect", "survival"],
    ["PlayerCount", "nothing-there"],
  ];
  for (const words of requests) ask(...words);
  ask("GetServer");
  await until(() => answers().length > 0);
  assert.deepEqual(answers(), [writeAnswer(["GetServer", "survival"]).toString()]);
  assert.deepEqual([wakes(), fixture.survival.players.has("alice")], [before, true]);
  await player.leave();
});

test("a client cannot answer in the place of the proxy", limit, async () => {
  await using fixture = await startFixture(on, withSurvival);
  const { player } = await onSurvival(fixture);
  const forged = writeAnswer(["GetServer", "admin"]);
  player.client.write("custom_payload", { channel: bungeeChannel, data: forged });
  player.client.write("custom_payload", { channel: "other:channel", data: Buffer.from("after") });
  await until(() => fixture.survival.messages.some(({ channel }) => channel === "other:channel"));
  assert.ok(!fixture.survival.messages.some(({ channel }) => channel === bungeeChannel));
  await player.leave();
});

test("without the setting nothing is answered or obeyed", limit, async () => {
  await using fixture = await startFixture({}, withSurvival);
  const { ask, answers, player } = await onSurvival(fixture);
  ask("GetServer");
  ask("Connect", "lobby");
  await until(() => player.state.channels.includes(bungeeChannel));
  assert.deepEqual(answers(), []);
  assert.equal(fixture.survival.players.has("alice"), true);
  await player.leave();
});
