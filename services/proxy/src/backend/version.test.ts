import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { runningAt, serverInfo, startFixture } from "../testing/fixture.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const other = { description: "", playersOnline: 0, playersMax: 0, protocol: 775 };
const words = /survival runs 26\.1.*; your game is 1\.21\.4/;

test(
  "a player whose version differs from the server's is told so and never connected to it",
  limit,
  async () => {
    await using fixture = await startFixture(
      {},
      {
        prepare: ({ service, survival }) => {
          survival.says.status = other;
          service.servers.set("survival", runningAt("survival", survival));
        },
      },
    );
    const alice = await fixture.passRaw(fixture.account("alice"), host);
    await alice.hears(words);
    await fixture.lobby.player("alice");
    assert.deepEqual([fixture.survival.players.size, fixture.survival.says.asked], [0, 1]);

    // The answer is kept: those who try within a moment cost the server no question each.
    alice.command("felis go survival");
    await alice.until(() => alice.chat.filter((line) => words.test(line)).length === 2);
    assert.equal(fixture.survival.says.asked, 1);
  },
);

test("a player who waited for such a server is not told that it is ready", limit, async () => {
  await using fixture = await startFixture(
    {},
    {
      prepare: ({ service }) => service.servers.set("survival", serverInfo("survival")),
    },
  );
  fixture.service.wake = (name) => ({
    status: 202,
    body: { name, desiredState: "Running", phase: "Starting", ready: false },
  });
  fixture.survival.says.status = { ...other, protocol: 1_073_742_162, versionName: "§aSnapshot" };
  const alice = await fixture.passRaw(fixture.account("alice"), host);
  await alice.hears(/waking up/);
  fixture.service.servers.set("survival", runningAt("survival", fixture.survival));
  await alice.hears(/survival runs Snapshot; your game is 1\.21\.4/);
  assert.deepEqual(
    alice.chat.filter((line) => line.includes("survival is ready")),
    [],
  );
  assert.equal(fixture.survival.players.size, 0);
});

test("a server that does not answer a status request is tried anyway", limit, async () => {
  const { promise, resolve } = Promise.withResolvers<typeof other>();
  await using fixture = await startFixture(
    { SVC_PROXY_SERVER_LOOK_TIMEOUT_MS: "50" },
    {
      prepare: ({ service, survival }) => {
        survival.says.status = promise;
        service.servers.set("survival", runningAt("survival", survival));
      },
    },
  );
  await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
  resolve(other);
});
