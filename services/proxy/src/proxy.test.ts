import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { Connection } from "@svc/minecraft";
import { controlChannel, encodeControl } from "@svc/proto/control";
import { runningAt, serverInfo, startFixture } from "./testing/fixture.ts";
import { refusal } from "./testing/service.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
type Fixture = Awaited<ReturnType<typeof startFixture>>;

function wakes(fixture: Fixture) {
  fixture.service.wake = (name) => {
    fixture.service.servers.set(name, serverInfo(name, { phase: "Starting", desiredState: "Running" }));
    return { status: 202, body: { name, desiredState: "Running", phase: "Starting", ready: false } };
  };
}

/** A fixture whose proxy knows these servers from its first poll. */
async function bedWith(
  change: (fixture: Fixture) => void,
  settings: Record<string, string> = {},
): Promise<Fixture> {
  const fixture = await startFixture(settings);
  change(fixture);
  await fixture.restart();
  return fixture;
}
const runs = (fixture: Fixture) =>
  void fixture.service.servers.set("survival", runningAt("survival", fixture.survival));
const sleeps = (fixture: Fixture) => void fixture.service.servers.set("survival", serverInfo("survival"));

test(
  "a linked player who enters a running server's address passes the gate and joins it",
  limit,
  async () => {
    await using fixture = await bedWith(runs);
    const alice = fixture.account("alice");
    await fixture.pass(alice, host);
    const session = await fixture.survival.player("alice");
    assert.equal(session.player.profile.uuid, alice.uuid);
    assert.equal(fixture.lobby.players.size, 0);
    const report = `POST /api/v1/internal/servers/survival/join-event {"mc_uuid":"${alice.uuid}","player_name":"alice"}`;
    await fixture.service.until(() => fixture.service.calls.includes(report));
    assert(!fixture.service.calls.some((call) => call.includes("/wake")));
  },
);

test(
  "a stopped server is woken for the verified player, who waits in the lobby until it is ready",
  limit,
  async () => {
    await using fixture = await bedWith(sleeps);
    wakes(fixture);
    const alice = fixture.account("alice");
    const player = await fixture.pass(alice, host);
    await fixture.lobby.player("alice");
    await player.hears(/waking up/);
    const woken = fixture.service.calls.filter((call) => call.includes("/wake"));
    assert.deepEqual(woken, [`POST /api/v1/internal/servers/survival/wake {"mc_uuid":"${alice.uuid}"}`]);
    runs(fixture);
    await fixture.survival.player("alice");
  },
);

const seldom = { SVC_PROXY_REFRESH_MS: "600000" };

test("a server created a moment ago is found by its address", limit, async () => {
  await using fixture = await startFixture(seldom);
  runs(fixture);
  await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
});

test("a player who enters an unknown address is told so in the lobby", limit, async () => {
  await using fixture = await startFixture(seldom);
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/There is no server at this address/);
  assert.equal(fixture.lobby.players.size, 1);
});

test(
  "a proxy that starts before the service gets the list shortly after the service starts",
  limit,
  async () => {
    await using fixture = await startFixture({ ...seldom, SVC_PROXY_FIRST_REFRESH_MS: "50" });
    runs(fixture);
    fixture.service.isDown = true;
    await fixture.restart();
    const calls = fixture.service.calls.length;
    fixture.service.isDown = false;
    await fixture.service.until(() => fixture.service.calls.slice(calls).includes("GET /api/v1/servers"));
  },
);

test("a refused wake is reported to the player, who stays in the lobby and in no queue", limit, async () => {
  await using fixture = await bedWith(sleeps);
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/You may not start survival/);
  const calls = fixture.service.calls.length;
  await fixture.service.until(
    () => fixture.service.calls.slice(calls).filter((call) => call === "GET /api/v1/servers").length >= 2,
  );
  assert(!fixture.service.calls.slice(calls).some((call) => call.includes("/status")));
  assert.equal(fixture.lobby.players.size, 1);
});

test(
  "during the cooldown a player reads when the server will be woken, and later that it is",
  limit,
  async () => {
    await using fixture = await bedWith(sleeps);
    const { cooldown } = { cooldown: refusal("cooldown") };
    fixture.service.wake = () => cooldown;
    const player = await fixture.passRaw(fixture.account("alice"), host);
    await player.hears(/survival was started or stopped a moment ago\. It will be woken in 30 s/);
    await fixture.lobby.player("alice");
    assert(!player.chat.some((line) => line.includes("waking up")));
    wakes(fixture);
    player.command("felis go survival");
    await player.hears(/waking up/);
  },
);

test("a player who waits for a server that gave up is told so", limit, async () => {
  await using fixture = await bedWith(sleeps);
  wakes(fixture);
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/waking up/);
  fixture.service.servers.set(
    "survival",
    serverInfo("survival", { phase: "Failed", startGaveUp: true, desiredState: "Running" }),
  );
  await player.hears(/could not start/);
});

test("an unlinked player stays at the gate, whatever the gate sends and however often", limit, async () => {
  await using fixture = await bedWith(runs);
  const mallory = fixture.account("mallory", { isLinked: false });
  const player = await fixture.passRaw(mallory, host);
  await player.hears(/Link your account first/);
  fixture.gate.send("mallory", { type: "LoginRelease", player: fixture.account("alice").uuid });
  player.command("felis go survival");
  await player.hears(/once you are through the login gate|Commands work once/);
  assert.deepEqual(
    [fixture.lobby.players.size, fixture.survival.players.size, fixture.gate.players.size],
    [0, 0, 1],
  );
});

test(
  "while the service is down a player with a cached link gets in, an unknown player does not",
  limit,
  async () => {
    await using fixture = await bedWith(runs);
    const alice = fixture.account("alice");
    const before = await fixture.passRaw(alice, host);
    await fixture.survival.player("alice");
    await before.leave();
    await fixture.survival.until(() => !fixture.survival.players.has("alice"));
    fixture.service.isDown = true;
    await fixture.passRaw(alice, host);
    await fixture.survival.player("alice");
    const stranger = await fixture.passRaw(fixture.account("mallory"), host);
    await stranger.hears(/cannot be checked right now/);
    assert.equal(fixture.survival.players.has("mallory"), false);
  },
);

test(
  "after a restart during an outage the cache is empty and everybody stays at the gate",
  limit,
  async () => {
    await using fixture = await bedWith(runs);
    const alice = fixture.account("alice");
    await fixture.passRaw(alice, host);
    await fixture.survival.player("alice");
    fixture.service.isDown = true;
    await fixture.restart();
    const player = await fixture.passRaw(alice, host);
    await player.hears(/cannot be checked right now/);
  },
);

test("control frames from clients and user servers are consumed and ignored", limit, async () => {
  await using fixture = await bedWith(runs);
  fixture.service.servers.set("other", serverInfo("other"));
  await fixture.restart();
  const alice = await fixture.pass(fixture.account("alice"), host);
  await fixture.survival.player("alice");
  const victim = fixture.account("bob");
  const forged = { type: "WakeRequest", player: victim.uuid, server: "other" } as const;
  alice.client.write("custom_payload", { channel: controlChannel, data: encodeControl(forged) });
  fixture.survival.send("alice", forged);
  fixture.survival.send("alice", { type: "ClaimRequest", player: victim.uuid, server: "other" });
  alice.command("felis");
  await alice.hears(/You are on survival/);
  assert.deepEqual(fixture.survival.frames, []);
  assert.deepEqual(
    alice.state.channels.filter((channel) => channel === controlChannel),
    [],
  );
  assert(!fixture.service.calls.some((call) => /wake|claim/.test(call)));
});

test("frames of the lobby act for the connection's player, whichever player they name", limit, async () => {
  await using fixture = await bedWith(sleeps);
  wakes(fixture);
  const [alice, bob] = [fixture.account("alice"), fixture.account("bob")];
  await fixture.passRaw(alice, "play.example");
  await fixture.lobby.player("alice");
  fixture.lobby.send("alice", { type: "WakeRequest", player: bob.uuid, server: "survival" });
  await fixture.service.until(() => fixture.service.calls.some((call) => call.includes("/wake")));
  assert.deepEqual(
    fixture.service.calls.filter((call) => call.includes("/wake")),
    [`POST /api/v1/internal/servers/survival/wake {"mc_uuid":"${alice.uuid}"}`],
  );
  runs(fixture);
  await fixture.survival.player("alice");
  assert(fixture.lobby.frames.some((frame) => frame.type === "TransferReady" && frame.server === "survival"));
});

test("the menu lists user servers, answers status queries, and reports unknown servers", limit, async () => {
  await using fixture = await bedWith(sleeps);
  await fixture.passRaw(fixture.account("alice"), "play.example");
  await fixture.lobby.player("alice");
  const answer = async (frame: Parameters<Fixture["lobby"]["send"]>[1]) => {
    const seen = fixture.lobby.frames.length;
    fixture.lobby.send("alice", frame);
    await fixture.lobby.until(() => fixture.lobby.frames.length > seen);
    return fixture.lobby.frames.at(-1);
  };
  assert.deepEqual(await answer({ type: "ListRequest" }), {
    type: "ListUpdate",
    servers: ["survival"],
    access: [""],
  });
  const status = await answer({ type: "StatusQuery", server: "survival" });
  assert(status?.type === "StatusUpdate" && status.phase === "Stopped");
  for (const server of ["nowhere", "login", "../x"]) {
    const error = await answer({ type: "StatusQuery", server });
    assert(error?.type === "Error" && error.code === "not_found", server);
  }
});

test("a backend that ends under a player brings them to the lobby with its reason", limit, async () => {
  await using fixture = await bedWith(runs);
  const player = await fixture.pass(fixture.account("alice"), host);
  (await fixture.survival.player("alice")).kick("Server closed");
  await player.hears(/survival sent you to the lobby: Server closed/);
  assert.equal(fixture.lobby.players.size, 1);
  assert.equal(player.state.ended, false);
});

test(
  "a server that refuses the player is no longer a target, and its reason is shown in the lobby",
  limit,
  async () => {
    await using fixture = await bedWith(runs);
    fixture.survival.refuseWith("You are banned");
    const player = await fixture.passRaw(fixture.account("alice"), host);
    await player.hears(/You are banned/);
    assert.equal(fixture.lobby.players.size, 1);
  },
);

test("without a gate nobody gets in", limit, async () => {
  await using fixture = await bedWith((self) => {
    runs(self);
    self.service.servers.delete("login");
  });
  assert.match(await (await fixture.raw(fixture.account("alice"), host)).isKicked(), /gate is not available/);
});

test("a player whom the session server does not know is refused", limit, async () => {
  await using fixture = await bedWith(runs);
  const alice = fixture.account("alice");
  const player = fixture.join(alice, host);
  fixture.service.joined.set = () => fixture.service.joined;
  assert.match(await player.isKicked(), /could not be verified/);
});

test("a player who may not start an ownerless server reads how to claim it", limit, async () => {
  await using fixture = await bedWith(sleeps);
  fixture.service.claimable.add("survival");
  const player = await fixture.passRaw(fixture.account("alice"), host);
  await player.hears(/survival has no owner yet.* Claim it in the lobby: type \/menu/);
});

test("a ping shows the phase and wakes nothing", limit, async () => {
  await using fixture = await bedWith(sleeps);
  const ask = async (typed: string) => {
    const client = new Connection(connect(fixture.proxy.port, "127.0.0.1"));
    const name = Buffer.from(typed);
    client.send(0, Buffer.of(0x81, 0x06, name.length), name, Buffer.of(0x63, 0xdd, 1));
    client.send(0);
    const { reader } = await client.next();
    client.destroy();
    return JSON.parse(reader.string()) as {
      description: { text: string };
      players: { online: number; max: number };
    };
  };
  assert.equal((await ask(host)).description.text, "survival is asleep. Join to wake it.");
  assert.equal((await ask("nowhere.play.example")).description.text, "There is no server at this address.");
  fixture.service.servers.set("survival", { ...runningAt("survival", fixture.survival), playersOnline: 3 });
  fixture.survival.says.status = { description: "", playersOnline: 7, playersMax: 20 };
  const polls = fixture.service.calls.length + 2;
  await fixture.service.until(() => fixture.service.calls.length > polls);
  const running = await ask(host);
  assert.deepEqual([running.description.text, running.players.online], ["survival", 7]);
  assert(!fixture.service.calls.some((call) => call.includes("/wake")));
});

test("hostile first bytes close their own connection and nobody else's", limit, async () => {
  await using fixture = await bedWith(runs, { SVC_PROXY_LOGIN_TIMEOUT_MS: "1000" });
  const hostile = [
    Buffer.alloc(64, 0xff),
    Buffer.from([0, 0, 0]),
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    Buffer.from([0xff, 0xff, 0x7f, 0]),
  ];
  for (const bytes of hostile) {
    const socket = connect(fixture.proxy.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(bytes);
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
  }
  await fixture.passRaw(fixture.account("alice"), host);
  await fixture.survival.player("alice");
});

test("commands over the budget are refused with the seconds to wait", limit, async () => {
  await using fixture = await bedWith(sleeps);
  fixture.service.wake = () => refusal("forbidden");
  const player = await fixture.passRaw(fixture.account("alice"), "play.example");
  await fixture.lobby.player("alice");
  for (let index = 0; index < 6; index += 1) player.command("felis go survival");
  await player.hears(/Too fast. Try again in [1-5] s/);
  await player.until(() => player.chat.filter((line) => /may not start/.test(line)).length === 5);
});
