// The service away at each step of a player's way, and back.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { until } from "@svc/minecraft/testing";
import { lastServersFile } from "./registry/registry.ts";
import { type Fixture, runningAt, serverInfo, startFixture } from "./testing/fixture.ts";
import { begin } from "./testing/raw-player.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
type Neighbours = Pick<Fixture, "service" | "survival" | "dir">;
const runs = ({ service, survival }: Neighbours) =>
  void service.servers.set("survival", runningAt("survival", survival));
const sleeps = ({ service }: Neighbours) => void service.servers.set("survival", serverInfo("survival"));

function wakes({ service }: Fixture): void {
  service.wake = (name) => {
    service.servers.set(name, serverInfo(name, { phase: "Starting", desiredState: "Running" }));
    return { status: 202, body: { name, desiredState: "Running", phase: "Starting", ready: false } };
  };
}

test(
  "while the session server is down logins are refused with a reason that does not blame the player",
  limit,
  async () => {
    await using fixture = await startFixture({}, { prepare: runs });
    const alice = fixture.account("alice");
    fixture.service.isSessionDown = true;
    const { connection, secret, answer, hash } = await begin({
      port: fixture.proxy.port,
      host,
      account: alice,
    });
    fixture.service.joined.set(hash, alice);
    connection.send(1, answer);
    connection.encrypt(secret);
    const { id, reader } = await connection.next();
    assert.equal(id, 0);
    assert.match(reader.string(), /does not answer at the moment/);
    fixture.service.isSessionDown = false;
    await fixture.passRaw(alice, host);
    await fixture.survival.player("alice");
  },
);

test("a player who waits at the gate through an outage gets in after it", limit, async () => {
  await using fixture = await startFixture({}, { prepare: runs });
  fixture.service.isDown = true;
  const alice = fixture.account("alice");
  const player = await fixture.passRaw(alice, host);
  await player.hears(/cannot be checked right now/);
  fixture.service.isDown = false;
  fixture.gate.send("alice", { type: "LoginRelease", player: null });
  await fixture.survival.player("alice");
});

test("a player who waits for a server through an outage gets there after it", limit, async () => {
  await using fixture = await startFixture({}, { prepare: sleeps });
  wakes(fixture);
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/waking up/);
  fixture.service.isDown = true;
  await until(async () => /what="refreshesFailed"[^}]*\} [1-9]/.test(await fixture.metrics.metrics()));
  runs(fixture);
  fixture.service.isDown = false;
  await fixture.survival.player("alice");
});

test("an outage that lasts too long ends the wait, and the player is told so", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_WAITER_SILENCE_MS: "200" }, { prepare: sleeps });
  wakes(fixture);
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/waking up/);
  fixture.service.isDown = true;
  await player.hears(/survival does not respond/);
  assert.equal(fixture.lobby.players.size, 1);
});

test("a wake without an answer is reported to the player and queues nobody", limit, async () => {
  await using fixture = await startFixture({}, { prepare: sleeps });
  const player = await fixture.passRaw(fixture.account("alice"), "play.example");
  await fixture.lobby.player("alice");
  fixture.service.isDown = true;
  player.command("felis go survival");
  await player.hears(/did not work|does not answer/);
  player.command("felis");
  await player.hears(/Waiting for: -/);
});

test(
  "a proxy that starts during an outage uses the saved list, and ignores a damaged one",
  limit,
  async () => {
    await using fixture = await startFixture({}, { prepare: runs });
    fixture.service.isDown = true;
    await fixture.restart();
    assert.equal(fixture.proxy.isReady(), undefined);
    await writeFile(join(fixture.dir, lastServersFile), '[{"name":"survival"');
    await fixture.restart();
    assert.match(fixture.proxy.isReady() ?? "", /no server list received/);
    const player = await fixture.raw(fixture.account("alice"), host);
    assert.match(await player.isKicked(), /gate is not available/);
    fixture.service.isDown = false;
    await until(() => fixture.proxy.isReady() === undefined);
    await fixture.passRaw(fixture.account("bob"), host);
    await fixture.survival.player("bob");
  },
);

test("a token that is rotated in its file is taken up without a restart", limit, async () => {
  const write = (dir: string, token: string) =>
    writeFileSync(join(dir, "svc-link.properties"), `service-token=${token}\n`);
  await using fixture = await startFixture(
    { SVC_SERVICE_TOKEN: "", SVC_PROXY_TOKEN_REREAD_MS: "1", SVC_PROXY_LINK_MEMORY_MS: "1" },
    {
      prepare: (neighbours) => {
        runs(neighbours);
        neighbours.service.token = "first";
        write(neighbours.dir, "first");
      },
    },
  );
  fixture.service.token = "second";
  const alice = fixture.account("alice");
  const player = await fixture.passRaw(alice, host);
  await player.hears(/cannot be checked right now/);
  write(fixture.dir, "second");
  fixture.gate.send("alice", { type: "LoginRelease", player: null });
  await fixture.survival.player("alice");
});

test("when all workers and slots are taken players are told at once, and it is counted", limit, async () => {
  await using fixture = await startFixture(
    { SVC_PROXY_WORKERS: "1", SVC_PROXY_SLOTS: "1", SVC_PROXY_ACTION_BURST: "100" },
    { prepare: sleeps },
  );
  const player = await fixture.passRaw(fixture.account("alice"), "play.example");
  await fixture.lobby.player("alice");
  await player.until(() => player.state.worlds === 2);
  const { promise: later, resolve: answerNow } = Promise.withResolvers<void>();
  fixture.service.answers.set("identity.account-migration.start", async () => {
    await later;
    return { status: 201, body: { started: true, state: "initiated" } };
  });
  for (let count = 0; count < 3; count += 1) player.command("felis migrate");
  await player.hears(/proxy is busy/);
  answerNow();
  await player.until(() => player.chat.filter((line) => /Go on in the panel/.test(line)).length === 2);
  assert.match(await fixture.metrics.metrics(), /svc_proxy_events_total\{what="busy"[^}]*\} 1\n/);
});
