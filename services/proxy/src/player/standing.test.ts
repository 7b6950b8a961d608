import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bed, runningAt, startBed } from "../testing/fixture.ts";
import { refusal } from "../testing/service.ts";

const limit = { timeout: 60_000 };
const host = "survival.play.example";
const often = { SVC_PROXY_STANDING_MS: "50" };
const options = {
  prepare: ({ service, survival }: Pick<Bed, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};

const standings = (bed: Bed) => bed.service.calls.filter((call) => call.includes("/player/standings"));

test("who is barred, or loses account or link, while on is sent away with the reason", limit, async () => {
  await using bed = await startBed(often, options);
  const rows: [name: string, end: (uuid: string) => unknown, words: RegExp][] = [
    ["alice", (uuid) => bed.service.barred.add(uuid), /may not play here any more/],
    ["bob", (uuid) => bed.service.retired.set(uuid, "account_disabled"), /account was disabled/],
    ["carol", (uuid) => bed.service.retired.set(uuid, "account_deleted"), /was deleted/],
    ["dave", (uuid) => bed.service.linked.delete(uuid), /not linked to an account any more/],
  ];
  const stayer = await bed.passRaw(bed.account("stayer"), host);
  await bed.survival.player("stayer");
  for (const [name, end, words] of rows) {
    const account = bed.account(name);
    const player = await bed.passRaw(account, host);
    await bed.survival.player(name);
    end(account.uuid);
    assert.match(await player.isKicked(), words, name);
    await bed.survival.until(() => !bed.survival.players.has(name));
  }
  assert.equal(stayer.state.isClosed, false);
});

test("one question asks for everybody, in the gate too, where the unlinked stay", limit, async () => {
  await using bed = await startBed(often, options);
  const newcomer = await bed.raw(bed.account("newcomer", { isLinked: false }), host);
  const guest = await bed.raw(bed.account("guest", { isLinked: false }), host);
  await bed.gate.player("newcomer");
  await bed.gate.player("guest");
  const calls = standings(bed).length;
  const isOfBoth = (call: string) => (call.match(/[0-9a-f-]{36}/g) ?? []).length === 2;
  await bed.service.until(() => standings(bed).slice(calls).filter(isOfBoth).length >= 2);
  assert.deepEqual([newcomer.state.isClosed, guest.state.isClosed], [false, false]);
});

test("without an answer everybody stays", limit, async () => {
  await using bed = await startBed(often, options);
  const alice = bed.account("alice");
  const player = await bed.passRaw(alice, host);
  await bed.survival.player("alice");
  bed.service.answers.set("identity.player.read-standings", () => refusal("unavailable"));
  bed.service.barred.add(alice.uuid);
  const calls = standings(bed).length;
  await bed.service.until(() => standings(bed).length >= calls + 3);
  assert.equal(player.state.isClosed, false);
  bed.service.answers.clear();
  assert.match(await player.isKicked(), /may not play here any more/);
});

test("a barred player who connects reads so, and not that the login failed", limit, async () => {
  await using bed = await startBed({}, options);
  const mallory = bed.account("mallory");
  bed.service.barred.add(mallory.uuid);
  bed.service.isBarAtLogin = true;
  const player = bed.join(mallory, host);
  const words = await player.isKicked();
  assert.match(words, /may not join this network any more/);
  assert.doesNotMatch(words, /Restart your game/);
});

test("a player whose account is disabled reads so at the gate", limit, async () => {
  await using bed = await startBed({}, options);
  const alice = bed.account("alice");
  bed.service.retired.set(alice.uuid, "account_disabled");
  const player = await bed.passRaw(alice, host);
  assert.match(await player.isKicked(), /account was disabled/);
  assert.equal(bed.survival.players.size, 0);
});
