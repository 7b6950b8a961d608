import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { type Fixture, runningAt, startFixture } from "../testing/fixture.ts";
import { refusal } from "../testing/service.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const often = { SVC_PROXY_STANDING_MS: "50" };
const options = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};

const standings = (fixture: Fixture) =>
  fixture.service.calls.filter((call) => call.includes("/player/standings"));

test(
  "a player who is barred or loses account or link while online is disconnected with the reason",
  limit,
  async () => {
    await using fixture = await startFixture(often, options);
    const rows: [name: string, end: (uuid: string) => unknown, words: RegExp][] = [
      ["alice", (uuid) => fixture.service.barred.add(uuid), /are barred from this network/],
      ["bob", (uuid) => fixture.service.retired.set(uuid, "account_disabled"), /account was disabled/],
      ["carol", (uuid) => fixture.service.retired.set(uuid, "account_deleted"), /was deleted/],
      ["dave", (uuid) => fixture.service.linked.delete(uuid), /not linked to an account any more/],
    ];
    const stayer = await fixture.passRaw(fixture.account("stayer"), host);
    await fixture.survival.player("stayer");
    for (const [name, end, words] of rows) {
      const account = fixture.account(name);
      const player = await fixture.passRaw(account, host);
      await fixture.survival.player(name);
      end(account.uuid);
      assert.match(await player.isKicked(), words, name);
      await fixture.survival.until(() => !fixture.survival.players.has(name));
    }
    assert.equal(stayer.state.isClosed, false);
  },
);

test("one request asks about everybody, and unlinked players stay in the gate", limit, async () => {
  await using fixture = await startFixture(often, options);
  const newcomer = await fixture.raw(fixture.account("newcomer", { isLinked: false }), host);
  const guest = await fixture.raw(fixture.account("guest", { isLinked: false }), host);
  await fixture.gate.player("newcomer");
  await fixture.gate.player("guest");
  const calls = standings(fixture).length;
  const isOfBoth = (call: string) => (call.match(/[0-9a-f-]{36}/g) ?? []).length === 2;
  await fixture.service.until(() => standings(fixture).slice(calls).filter(isOfBoth).length >= 2);
  assert.deepEqual([newcomer.state.isClosed, guest.state.isClosed], [false, false]);
});

test("without an answer everybody stays", limit, async () => {
  await using fixture = await startFixture(often, options);
  const alice = fixture.account("alice");
  const player = await fixture.passRaw(alice, host);
  await fixture.survival.player("alice");
  fixture.service.answers.set("identity.player.read-standings", () => refusal("unavailable"));
  fixture.service.barred.add(alice.uuid);
  const calls = standings(fixture).length;
  await fixture.service.until(() => standings(fixture).length >= calls + 3);
  assert.equal(player.state.isClosed, false);
  fixture.service.answers.clear();
  assert.match(await player.isKicked(), /are barred from this network/);
});

test(
  "a barred player who connects reads that they are barred, not that the login failed",
  limit,
  async () => {
    await using fixture = await startFixture({}, options);
    const mallory = fixture.account("mallory");
    fixture.service.barred.add(mallory.uuid);
    fixture.service.isBarAtLogin = true;
    const player = fixture.join(mallory, host);
    const words = await player.isKicked();
    assert.match(words, /are barred from this network/);
    assert.doesNotMatch(words, /Restart your game/);
  },
);

test("a player whose account is disabled reads so at the gate", limit, async () => {
  await using fixture = await startFixture({}, options);
  const alice = fixture.account("alice");
  fixture.service.retired.set(alice.uuid, "account_disabled");
  const player = await fixture.passRaw(alice, host);
  assert.match(await player.isKicked(), /account was disabled/);
  assert.equal(fixture.survival.players.size, 0);
});
