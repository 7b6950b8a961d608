import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { type Fixture, runningAt, startFixture } from "../testing/fixture.ts";
import type { Game } from "../testing/game-server.ts";
import { refusal } from "../testing/service.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const withSurvival = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};
const linkStatus = "identity.link.status";
const readStandings = "identity.player.read-standings";

/** Lets a player in once, so that the proxy remembers them, and out again. */
async function remember(fixture: Fixture, name: string) {
  const account = fixture.account(name);
  const player = await fixture.passRaw(account, host);
  await fixture.survival.player(name);
  await player.leave();
  await fixture.survival.until(() => !fixture.survival.players.has(name));
  return account;
}

/** The player comes again, and the proxy says why not. */
async function isHeld(
  fixture: Fixture,
  account: { name: string; uuid: string },
  words: RegExp,
): Promise<void> {
  const player = await fixture.passRaw(account, host);
  await player.hears(words);
  assert.deepEqual(
    [fixture.gate.players.has(account.name), fixture.survival.players.has(account.name)],
    [true, false],
  );
  await player.leave();
  await fixture.gate.until(() => !fixture.gate.players.has(account.name));
}

test("a barred player is disconnected, linked or not, whatever the gate sends", limit, async () => {
  await using fixture = await startFixture({}, withSurvival);
  for (const isLinked of [true, false]) {
    const mallory = fixture.account("mallory", { isLinked });
    fixture.service.barred.add(mallory.uuid);
    const player = await fixture.passRaw(mallory, host);
    assert.match(await player.isKicked(), /are barred from this network/);
  }
  assert.equal(fixture.survival.players.size + fixture.lobby.players.size, 0);
});

test(
  "one answer of two is not enough: a player with a cached link gets in, others stay at the gate",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const alice = await remember(fixture, "alice");
    for (const subject of [linkStatus, readStandings]) {
      fixture.service.answers.set(subject, () => refusal("unavailable"));
      await isHeld(fixture, fixture.account("bob"), /cannot be checked right now/);
      const player = await fixture.passRaw(alice, host);
      await fixture.survival.player("alice");
      await player.leave();
      await fixture.survival.until(() => !fixture.survival.players.has("alice"));
      fixture.service.answers.delete(subject);
    }
  },
);

test("a refused request is not an outage: the cached link is not used", limit, async () => {
  await using fixture = await startFixture({}, withSurvival);
  const alice = await remember(fixture, "alice");
  for (const name of ["unauthorized", "wrong_caller", "bad_request"] as const) {
    fixture.service.answers.set(linkStatus, () => refusal(name));
    await isHeld(fixture, alice, /cannot be checked right now/);
  }
});

test(
  "the cached link of an unlinked or barred player is dropped, even if the service goes down afterwards",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const [alice, bob] = [await remember(fixture, "alice"), await remember(fixture, "bob")];
    fixture.service.linked.delete(alice.uuid);
    await isHeld(fixture, alice, /Link your account first/);
    fixture.service.barred.add(bob.uuid);
    assert.match(await (await fixture.passRaw(bob, host)).isKicked(), /are barred from this network/);
    fixture.service.isDown = true;
    for (const account of [alice, bob]) await isHeld(fixture, account, /cannot be checked right now/);
  },
);

test("a cached link expires", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_LINK_MEMORY_MS: "1" }, withSurvival);
  const alice = await remember(fixture, "alice");
  fixture.service.isDown = true;
  await isHeld(fixture, alice, /cannot be checked right now/);
});

test("a release that led nowhere does not count after the player is unlinked", limit, async () => {
  const nowhere = { address: "127.0.0.1:1" } as Game;
  await using fixture = await startFixture(
    {},
    { prepare: ({ service }) => void service.servers.set("lobby", runningAt("lobby", nowhere)) },
  );
  const alice = fixture.account("alice");
  const player = await fixture.passRaw(alice, "play.example");
  await player.hears(/lobby cannot be reached/);
  fixture.service.linked.delete(alice.uuid);
  fixture.service.servers.set("lobby", runningAt("lobby", fixture.lobby));
  const polls = () => fixture.service.calls.filter((call) => call === "GET /api/v1/servers").length;
  const before = polls();
  await fixture.service.until(() => polls() > before + 1);
  fixture.gate.send("alice", { type: "LoginRelease", player: null });
  await player.hears(/Link your account first/);
  player.command("felis lobby");
  await player.hears(/once you are through the login gate/);
  assert.equal(fixture.lobby.players.size, 0);
});

test("without online mode UUIDs are not verified and nobody leaves the gate", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_ONLINE_MODE: "false" }, withSurvival);
  const alice = fixture.account("alice");
  const player = fixture.join(alice, host);
  await fixture.release(alice);
  await player.hears(/cannot be checked right now/);
  assert(!fixture.service.calls.some((call) => call.includes(linkStatus)));
  assert.equal(fixture.lobby.players.size + fixture.survival.players.size, 0);
});
