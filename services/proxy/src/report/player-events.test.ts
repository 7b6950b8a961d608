import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { type Fixture, runningAt, startFixture } from "../testing/fixture.ts";
import { refusal } from "../testing/service.ts";

const limit = { timeout: 20_000 * patience };
const host = "survival.play.example";
const options = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};
const received = (fixture: Fixture, what: "join" | "leave") =>
  fixture.service.calls
    .filter((call) => call.includes(`/${what}-event`))
    .map((call) => call.split("/survival/")[1]);

test("each step of a player is one log line, and joins and leaves are reported by name", limit, async () => {
  await using fixture = await startFixture({}, options);
  const alice = fixture.account("alice");
  const player = await fixture.passRaw(alice, host);
  await fixture.survival.player("alice");
  player.command("felis lobby");
  await fixture.lobby.player("alice");
  player.command("felis go survival");
  await fixture.survival.player("alice");
  await fixture.service.until(() => received(fixture, "join").length === 2);
  await player.leave();
  await fixture.service.until(() => received(fixture, "leave").length === 2);
  const about = `{"mc_uuid":"${alice.uuid}","player_name":"alice"`;
  assert.deepEqual(received(fixture, "join"), [`join-event ${about}}`, `join-event ${about}}`]);
  assert.deepEqual(received(fixture, "leave"), [
    `leave-event ${about},"reason":"switched"}`,
    `leave-event ${about},"reason":"left"}`,
  ]);
  const mine = fixture.lines.filter((line) => line["player"] === "alice");
  for (const line of mine) assert.deepEqual([line["mc_uuid"], line["address"]], [alice.uuid, "127.0.0.1"]);
  assert.deepEqual(
    mine.map(({ msg, from, server, reason }) => [msg, from, server, reason]),
    [
      ["player connected", undefined, undefined, undefined],
      ["player is at the gate", undefined, "login", undefined],
      ["player switched", "login", "survival", undefined],
      ["player switched", "survival", "lobby", undefined],
      ["player switched", "lobby", "survival", undefined],
      ["player disconnected", undefined, "survival", "left"],
    ],
  );
});

test("the log says why a player left or was moved, with addresses only where configured", limit, async () => {
  await using fixture = await startFixture(
    { SVC_PROXY_LOG_ADDRESSES: "false", SVC_PROXY_STANDING_MS: "50" },
    options,
  );
  const alice = fixture.account("alice");
  const player = await fixture.passRaw(alice, host);
  await fixture.survival.player("alice");
  fixture.survival.players.get("alice")?.kick("griefing");
  await fixture.lobby.player("alice");
  await fixture.service.until(() => received(fixture, "leave").length === 1);
  fixture.service.barred.add(alice.uuid);
  await player.isKicked();
  await fixture.proxy.close();
  const mine = fixture.lines.filter((line) => line["player"] === "alice").slice(-2);
  assert.deepEqual(
    mine.map(({ msg, server, reason, address }) => [msg, server, reason, address]),
    [
      ["player switched", "lobby", "griefing", undefined],
      ["player disconnected", "lobby", "barred", undefined],
    ],
  );
  assert.match(received(fixture, "leave")[0] ?? "", /"reason":"lost"/);
});

test("visits are measured through an outage, and reported until they are taken", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_VISITS_MS: "50" }, options);
  type Report = { server: string; number: number; ms: number; ended_ms?: number };
  const reports: Report[][] = [];
  let isTaken = true;
  fixture.service.takeVisits = (input) => {
    reports.push(input["visits"] as unknown as Report[]);
    return isTaken ? { status: 204 } : refusal("unavailable");
  };
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
  await fixture.service.until(() => reports.at(-1)?.length === 1);
  isTaken = false;
  player.command("felis lobby");
  await fixture.lobby.player("alice");
  await fixture.service.until(() => reports.at(-1)?.[0]?.ended_ms !== undefined);
  const [first] = reports.at(-1) ?? [];
  await fixture.service.until(() => (reports.at(-1)?.[0]?.ended_ms ?? 0) > (first?.ended_ms ?? 0));
  assert.deepEqual([reports.at(-1)?.[0]?.ms, first?.server, first?.number], [first?.ms, "survival", 1]);
  isTaken = true;
  player.command("felis go survival");
  await fixture.survival.player("alice");
  await fixture.service.until(() => reports.at(-1)?.[0]?.number === 2 && reports.at(-1)?.length === 1);
  await fixture.proxy.close();
  assert.deepEqual(
    reports.at(-1)?.map(({ server, number, ended_ms }) => [server, number, ended_ms !== undefined]),
    [["survival", 2, true]],
  );
});

test("a proxy that stops reports its players as gone and lists none", limit, async () => {
  await using fixture = await startFixture({}, options);
  const reports: unknown[] = [];
  fixture.service.presence = (input) => {
    reports.push(input["players"]);
    return { elsewhere: [], invitations: [] };
  };
  await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
  await fixture.proxy.close();
  assert.match(received(fixture, "leave")[0] ?? "", /"reason":"draining"/);
  assert.deepEqual(reports.at(-1), []);
});
