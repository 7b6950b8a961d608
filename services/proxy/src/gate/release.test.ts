import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bed, runningAt, startBed } from "../testing/fixture.ts";
import type { Game } from "../testing/game-server.ts";
import { refusal } from "../testing/service.ts";

const limit = { timeout: 60_000 };
const host = "survival.play.example";
const withSurvival = {
  prepare: ({ service, survival }: Pick<Bed, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};
const linkStatus = "identity.link.status";
const readStandings = "identity.player.read-standings";

/** Lets a player in once, so that the proxy remembers them, and out again. */
async function remember(bed: Bed, name: string) {
  const account = bed.account(name);
  const player = await bed.passRaw(account, host);
  await bed.survival.player(name);
  await player.leave();
  await bed.survival.until(() => !bed.survival.players.has(name));
  return account;
}

/** The player comes again, and the proxy says why not. */
async function isHeld(bed: Bed, account: { name: string; uuid: string }, words: RegExp): Promise<void> {
  const player = await bed.passRaw(account, host);
  await player.hears(words);
  assert.deepEqual(
    [bed.gate.players.has(account.name), bed.survival.players.has(account.name)],
    [true, false],
  );
  await player.leave();
  await bed.gate.until(() => !bed.gate.players.has(account.name));
}

test("a barred player is sent away, linked or not, and whatever the gate says", limit, async () => {
  await using bed = await startBed({}, withSurvival);
  for (const isLinked of [true, false]) {
    const mallory = bed.account("mallory", { isLinked });
    bed.service.barred.add(mallory.uuid);
    const player = await bed.passRaw(mallory, host);
    assert.match(await player.isKicked(), /may not (play here|join this network) any more/);
  }
  assert.equal(bed.survival.players.size + bed.lobby.players.size, 0);
});

test("one answer of two is none: without memory the player stays, with it they get in", limit, async () => {
  await using bed = await startBed({}, withSurvival);
  const alice = await remember(bed, "alice");
  for (const subject of [linkStatus, readStandings]) {
    bed.service.answers.set(subject, () => refusal("unavailable"));
    await isHeld(bed, bed.account("bob"), /cannot be checked right now/);
    const player = await bed.passRaw(alice, host);
    await bed.survival.player("alice");
    await player.leave();
    await bed.survival.until(() => !bed.survival.players.has("alice"));
    bed.service.answers.delete(subject);
  }
});

test("a refusal of the question is no silence: the memory does not count", limit, async () => {
  await using bed = await startBed({}, withSurvival);
  const alice = await remember(bed, "alice");
  for (const name of ["unauthorized", "wrong_caller", "bad_request"] as const) {
    bed.service.answers.set(linkStatus, () => refusal(name));
    await isHeld(bed, alice, /cannot be checked right now/);
  }
});

test("who was unlinked or barred is forgotten: the service may be down afterwards", limit, async () => {
  await using bed = await startBed({}, withSurvival);
  const [alice, bob] = [await remember(bed, "alice"), await remember(bed, "bob")];
  bed.service.linked.delete(alice.uuid);
  await isHeld(bed, alice, /Link your account first/);
  bed.service.barred.add(bob.uuid);
  assert.match(
    await (await bed.passRaw(bob, host)).isKicked(),
    /may not (play here|join this network) any more/,
  );
  bed.service.isDown = true;
  for (const account of [alice, bob]) await isHeld(bed, account, /cannot be checked right now/);
});

test("the memory is over when its time is", limit, async () => {
  await using bed = await startBed({ SVC_PROXY_LINK_MEMORY_MS: "1" }, withSurvival);
  const alice = await remember(bed, "alice");
  bed.service.isDown = true;
  await isHeld(bed, alice, /cannot be checked right now/);
});

test("a release that led nowhere counts for nothing once the player is unlinked", limit, async () => {
  const nowhere = { address: "127.0.0.1:1" } as Game;
  await using bed = await startBed(
    {},
    { prepare: ({ service }) => void service.servers.set("lobby", runningAt("lobby", nowhere)) },
  );
  const alice = bed.account("alice");
  const player = await bed.passRaw(alice, "play.example");
  await player.hears(/lobby cannot be reached/);
  bed.service.linked.delete(alice.uuid);
  bed.service.servers.set("lobby", runningAt("lobby", bed.lobby));
  const polls = () => bed.service.calls.filter((call) => call === "GET /api/v1/servers").length;
  const before = polls();
  await bed.service.until(() => polls() > before + 1);
  bed.gate.send("alice", { type: "LoginRelease", player: null });
  await player.hears(/Link your account first/);
  player.command("felis lobby");
  await player.hears(/once you are through the login gate/);
  assert.equal(bed.lobby.players.size, 0);
});

test("without online mode nobody vouches for a UUID, and nobody leaves the gate", limit, async () => {
  await using bed = await startBed({ SVC_PROXY_ONLINE_MODE: "false" }, withSurvival);
  const alice = bed.account("alice");
  const player = bed.join(alice, host);
  await bed.release(alice);
  await player.hears(/cannot be checked right now/);
  assert(!bed.service.calls.some((call) => call.includes(linkStatus)));
  assert.equal(bed.lobby.players.size + bed.survival.players.size, 0);
});
