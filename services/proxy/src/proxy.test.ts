import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { Connection, controlChannel, encodeControl } from "@svc/minecraft";
import { runningAt, serverInfo, startBed } from "./testing/fixture.ts";
import { refusal } from "./testing/service.ts";

const limit = { timeout: 60_000 };
const host = "survival.play.example";
type Bed = Awaited<ReturnType<typeof startBed>>;

function wakes(bed: Bed) {
  bed.service.wake = (name) => {
    bed.service.servers.set(name, serverInfo(name, { phase: "Starting", desiredState: "Running" }));
    return { status: 202, body: { name, desiredState: "Running", phase: "Starting", ready: false } };
  };
}

/** A bed whose proxy knows these servers from its first poll. */
async function bedWith(change: (bed: Bed) => void, settings: Record<string, string> = {}): Promise<Bed> {
  const bed = await startBed(settings);
  change(bed);
  await bed.restart();
  return bed;
}
const runs = (bed: Bed) => void bed.service.servers.set("survival", runningAt("survival", bed.survival));
const sleeps = (bed: Bed) => void bed.service.servers.set("survival", serverInfo("survival"));

test("a linked player who types a running server's address passes the gate and is in it", limit, async () => {
  await using bed = await bedWith(runs);
  const alice = bed.account("alice");
  await bed.pass(alice, host);
  const session = await bed.survival.player("alice");
  assert.equal(session.player.profile.uuid, alice.uuid);
  assert.equal(bed.lobby.players.size, 0);
  const report = `POST /api/v1/internal/servers/survival/join-event {"mc_uuid":"${alice.uuid}","player_name":"alice"}`;
  await bed.service.until(() => bed.service.calls.includes(report));
  assert(!bed.service.calls.some((call) => call.includes("/wake")));
});

test(
  "a sleeping server is woken for the verified player, who waits in the lobby until it is ready",
  limit,
  async () => {
    await using bed = await bedWith(sleeps);
    wakes(bed);
    const alice = bed.account("alice");
    const player = await bed.pass(alice, host);
    await bed.lobby.player("alice");
    await player.hears(/waking up/);
    const woken = bed.service.calls.filter((call) => call.includes("/wake"));
    assert.deepEqual(woken, [`POST /api/v1/internal/servers/survival/wake {"mc_uuid":"${alice.uuid}"}`]);
    runs(bed);
    await bed.survival.player("alice");
  },
);

const seldom = { SVC_PROXY_REFRESH_MS: "600000" };

test("a server made a moment ago is found by who types its address", limit, async () => {
  await using bed = await startBed(seldom);
  runs(bed);
  await bed.passRaw(bed.account("alice"), host);
  await bed.survival.player("alice");
});

test("who types an address that no server has reads so in the lobby", limit, async () => {
  await using bed = await startBed(seldom);
  const player = await bed.passRaw(bed.account("alice"), host);
  await player.hears(/There is no server at this address/);
  assert.equal(bed.lobby.players.size, 1);
});

test("a proxy that starts before the service has its list a moment after it", limit, async () => {
  await using bed = await startBed({ ...seldom, SVC_PROXY_FIRST_REFRESH_MS: "50" });
  runs(bed);
  bed.service.isDown = true;
  await bed.restart();
  const calls = bed.service.calls.length;
  bed.service.isDown = false;
  await bed.service.until(() => bed.service.calls.slice(calls).includes("GET /api/v1/servers"));
});

test("a refused wake tells the player and leaves them in the lobby, in no queue", limit, async () => {
  await using bed = await bedWith(sleeps);
  const player = await bed.passRaw(bed.account("alice"), host);
  await player.hears(/You may not start survival/);
  const calls = bed.service.calls.length;
  await bed.service.until(
    () => bed.service.calls.slice(calls).filter((call) => call === "GET /api/v1/servers").length >= 2,
  );
  assert(!bed.service.calls.slice(calls).some((call) => call.includes("/status")));
  assert.equal(bed.lobby.players.size, 1);
});

test(
  "in the cooldown a player reads when the server is woken, and that it wakes once it does",
  limit,
  async () => {
    await using bed = await bedWith(sleeps);
    const { cooldown } = { cooldown: refusal("cooldown") };
    bed.service.wake = () => cooldown;
    const player = await bed.passRaw(bed.account("alice"), host);
    await player.hears(/survival was woken or stopped a moment ago\. It is woken in 30 s/);
    await bed.lobby.player("alice");
    assert(!player.chat.some((line) => line.includes("waking up")));
    wakes(bed);
    player.command("felis go survival");
    await player.hears(/waking up/);
  },
);

test("a waiter of a server that gave up is told so", limit, async () => {
  await using bed = await bedWith(sleeps);
  wakes(bed);
  const player = await bed.passRaw(bed.account("alice"), host);
  await player.hears(/waking up/);
  bed.service.servers.set(
    "survival",
    serverInfo("survival", { phase: "Failed", startGaveUp: true, desiredState: "Running" }),
  );
  await player.hears(/could not start/);
});

test("an unlinked player stays at the gate, whatever the gate says and however often", limit, async () => {
  await using bed = await bedWith(runs);
  const mallory = bed.account("mallory", { isLinked: false });
  const player = await bed.passRaw(mallory, host);
  await player.hears(/Link your account first/);
  bed.gate.send("mallory", { type: "LoginRelease", player: bed.account("alice").uuid });
  player.command("felis go survival");
  await player.hears(/once you are through the login gate|Commands work once/);
  assert.deepEqual([bed.lobby.players.size, bed.survival.players.size, bed.gate.players.size], [0, 0, 1]);
});

test(
  "while the service is down a linked player gets in on its memory, a stranger does not",
  limit,
  async () => {
    await using bed = await bedWith(runs);
    const alice = bed.account("alice");
    const before = await bed.passRaw(alice, host);
    await bed.survival.player("alice");
    await before.leave();
    await bed.survival.until(() => !bed.survival.players.has("alice"));
    bed.service.isDown = true;
    await bed.passRaw(alice, host);
    await bed.survival.player("alice");
    const stranger = await bed.passRaw(bed.account("mallory"), host);
    await stranger.hears(/cannot be checked right now/);
    assert.equal(bed.survival.players.has("mallory"), false);
  },
);

test(
  "after a restart without the service the memory is empty: everybody stays at the gate",
  limit,
  async () => {
    await using bed = await bedWith(runs);
    const alice = bed.account("alice");
    await bed.passRaw(alice, host);
    await bed.survival.player("alice");
    bed.service.isDown = true;
    await bed.restart();
    const player = await bed.passRaw(alice, host);
    await player.hears(/cannot be checked right now/);
  },
);

test("control frames of a client and of a user server are consumed and obeyed by nobody", limit, async () => {
  await using bed = await bedWith(runs);
  bed.service.servers.set("other", serverInfo("other"));
  await bed.restart();
  const alice = await bed.pass(bed.account("alice"), host);
  await bed.survival.player("alice");
  const victim = bed.account("bob");
  const forged = { type: "WakeRequest", player: victim.uuid, server: "other" } as const;
  alice.client.write("custom_payload", { channel: controlChannel, data: encodeControl(forged) });
  bed.survival.send("alice", forged);
  bed.survival.send("alice", { type: "ClaimRequest", player: victim.uuid, server: "other" });
  alice.command("felis");
  await alice.hears(/You are on survival/);
  assert.deepEqual(bed.survival.frames, []);
  assert.deepEqual(
    alice.state.channels.filter((channel) => channel === controlChannel),
    [],
  );
  assert(!bed.service.calls.some((call) => /wake|claim/.test(call)));
});

test("the lobby acts for the player of the connection only, whoever the frame names", limit, async () => {
  await using bed = await bedWith(sleeps);
  wakes(bed);
  const [alice, bob] = [bed.account("alice"), bed.account("bob")];
  await bed.passRaw(alice, "play.example");
  await bed.lobby.player("alice");
  bed.lobby.send("alice", { type: "WakeRequest", player: bob.uuid, server: "survival" });
  await bed.service.until(() => bed.service.calls.some((call) => call.includes("/wake")));
  assert.deepEqual(
    bed.service.calls.filter((call) => call.includes("/wake")),
    [`POST /api/v1/internal/servers/survival/wake {"mc_uuid":"${alice.uuid}"}`],
  );
  runs(bed);
  await bed.survival.player("alice");
  assert(bed.lobby.frames.some((frame) => frame.type === "TransferReady" && frame.server === "survival"));
});

test("the menu lists user servers, answers a status, and says what it does not know", limit, async () => {
  await using bed = await bedWith(sleeps);
  await bed.passRaw(bed.account("alice"), "play.example");
  await bed.lobby.player("alice");
  const answer = async (frame: Parameters<Bed["lobby"]["send"]>[1]) => {
    const seen = bed.lobby.frames.length;
    bed.lobby.send("alice", frame);
    await bed.lobby.until(() => bed.lobby.frames.length > seen);
    return bed.lobby.frames.at(-1);
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
  await using bed = await bedWith(runs);
  const player = await bed.pass(bed.account("alice"), host);
  (await bed.survival.player("alice")).kick("Server closed");
  await player.hears(/survival sent you to the lobby: Server closed/);
  assert.equal(bed.lobby.players.size, 1);
  assert.equal(player.state.ended, false);
});

test(
  "a server that refuses the player is forgotten, and its words are told in the lobby",
  limit,
  async () => {
    await using bed = await bedWith(runs);
    bed.survival.refuseWith("You are banned");
    const player = await bed.passRaw(bed.account("alice"), host);
    await player.hears(/You are banned/);
    assert.equal(bed.lobby.players.size, 1);
  },
);

test("without a gate nobody gets in", limit, async () => {
  await using bed = await bedWith((self) => {
    runs(self);
    self.service.servers.delete("login");
  });
  assert.match(await (await bed.raw(bed.account("alice"), host)).isKicked(), /gate is not available/);
});

test("who the session server does not know is refused", limit, async () => {
  await using bed = await bedWith(runs);
  const alice = bed.account("alice");
  const player = bed.join(alice, host);
  bed.service.joined.set = () => bed.service.joined;
  assert.match(await player.isKicked(), /could not be verified/);
});

test("who may not start a server that nobody owns reads how to claim it", limit, async () => {
  await using bed = await bedWith(sleeps);
  bed.service.claimable.add("survival");
  const player = await bed.passRaw(bed.account("alice"), host);
  await player.hears(/survival has no owner yet.* Claim it in the lobby: type \/menu/);
});

test("a ping tells the phase and wakes nothing", limit, async () => {
  await using bed = await bedWith(sleeps);
  const ask = async (typed: string) => {
    const client = new Connection(connect(bed.proxy.port, "127.0.0.1"));
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
  bed.service.servers.set("survival", { ...runningAt("survival", bed.survival), playersOnline: 3 });
  bed.survival.says.status = { description: "", playersOnline: 7, playersMax: 20 };
  const polls = bed.service.calls.length + 2;
  await bed.service.until(() => bed.service.calls.length > polls);
  const running = await ask(host);
  assert.deepEqual([running.description.text, running.players.online], ["survival", 7]);
  assert(!bed.service.calls.some((call) => call.includes("/wake")));
});

test("hostile first bytes close their own connection and nobody else's", limit, async () => {
  await using bed = await bedWith(runs, { SVC_PROXY_LOGIN_TIMEOUT_MS: "1000" });
  const hostile = [
    Buffer.alloc(64, 0xff),
    Buffer.from([0, 0, 0]),
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    Buffer.from([0xff, 0xff, 0x7f, 0]),
  ];
  for (const bytes of hostile) {
    const socket = connect(bed.proxy.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(bytes);
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
  }
  await bed.passRaw(bed.account("alice"), host);
  await bed.survival.player("alice");
});

test("commands over the budget are refused with the seconds to wait", limit, async () => {
  await using bed = await bedWith(sleeps);
  bed.service.wake = () => refusal("forbidden");
  const player = await bed.passRaw(bed.account("alice"), "play.example");
  await bed.lobby.player("alice");
  for (let index = 0; index < 6; index += 1) player.command("felis go survival");
  await player.hears(/Not so fast: again in [1-5] s/);
  await player.until(() => player.chat.filter((line) => /may not start/.test(line)).length === 5);
});
