// Many players at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhole, many } from "@svc/config/testing";
import { patience } from "@svc/local-stack/testing";
import { until } from "@svc/minecraft/testing";
import { type Fixture, runningAt, startFixture } from "./testing/fixture.ts";

const bots = many(200, 30);
const host = "survival.play.example";

/** Joins, and lets the gate ask again as often as the proxy is too busy to look, as the real one does. */
async function comeIn(fixture: Fixture, name: string) {
  const account = fixture.account(name);
  const player = await fixture.passRaw(account, host);
  let received = 0;
  await player.until(() => {
    const busy = player.chat.filter((line) => line.includes("busy")).length;
    if (busy > received) void fixture.release(account);
    received = busy;
    return player.state.worlds === 2;
  });
  await fixture.survival.player(name);
  return player;
}

test("players who join at once all get into the game, at little cost, and leave nothing behind", {
  timeout: 120_000 * patience,
}, async (t) => {
  await using fixture = await startFixture(
    { SVC_PROXY_CONNECTIONS_PER_ADDRESS: "400", SVC_PROXY_LOGIN_BURST: "400" },
    { prepare: ({ service, survival }) => service.servers.set("survival", runningAt("survival", survival)) },
  );
  // The version's tables are read with its first player.
  await (await comeIn(fixture, "first")).leave();
  await until(() => fixture.survival.connections + fixture.gate.connections === 0, 60_000);
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const players = await Promise.all(
    Array.from({ length: bots }, (_, index) => comeIn(fixture, `bot${index}`)),
  );
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1_000 / bots;
  t.diagnostic(
    `${bots} players in ${Math.round(performance.now() - startedAt)} ms, ${cpuMs.toFixed(1)} ms of a core each`,
  );
  // Two cores for ten seconds are 100 ms for each of 200, the clients, the gate and the game of this process included.
  // Beside other tests the same work costs a multiple, so only the whole crowd, which runs alone, is held to it.
  if (isWhole) assert(cpuMs < 100, `${cpuMs} ms of a core for one player`);
  const wrong = [...fixture.survival.players].filter(([name, { player }]) => name !== player.profile.name);
  assert.deepEqual([fixture.survival.players.size, wrong], [bots, []]);
  await Promise.all(players.map((player) => player.leave()));
  await until(
    () => fixture.gate.connections + fixture.lobby.connections + fixture.survival.connections === 0,
    60_000,
  );
  await until(async () => /svc_proxy_players\S* 0\n/.test(await fixture.metrics.metrics()), 60_000);
});
