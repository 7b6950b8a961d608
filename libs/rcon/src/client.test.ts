import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { connectRcon, probe } from "./client.ts";
import { type FaultMode, faultPassword as password, startFaultServer } from "./testing/fault-server.ts";

const host = "127.0.0.1";

// 4096 is not a multiple of three, so every frame ends inside a character.
const replies: Record<string, string> = {
  empty: "",
  short: "Saved the game",
  unicode: "äöü 漢字 🙂",
  "one byte short of a frame": "x".repeat(4095),
  "exactly one frame": "x".repeat(4096),
  "one byte more than a frame": "x".repeat(4097),
  "two exact frames": "x".repeat(8192),
  "cut in the middle of characters": "漢".repeat(9_700),
};

for (const mode of ["plain", "bytewise", "coalesce", "strict"] satisfies FaultMode[]) {
  test(`a ${mode} server's replies arrive whole, and the next command gets its own`, async () => {
    await using server = await startFaultServer({ mode, reply: (command) => replies[command] ?? command });
    await using client = await connectRcon({ host, port: server.port, password });
    for (const [name, text] of Object.entries(replies)) {
      assert.equal(await client.command(name), text, name);
      assert.equal(await client.command("next"), "next");
    }
  });
}

test("commands called at the same time run one after another and get their own replies", async () => {
  let running = 0;
  const reply = async (command: string) => {
    running += 1;
    assert.equal(running, 1);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return command.repeat(600);
  };
  await using server = await startFaultServer({ mode: "strict", reply });
  await using client = await connectRcon({ host, port: server.port, password });
  const names = ["first ", "second ", "third ", "fourth "];
  const results = await Promise.all(names.map((name) => client.command(name)));
  assert.deepEqual(
    results,
    names.map((name) => name.repeat(600)),
  );
});

test("a command without an answer times out and closes the connection", async () => {
  await using server = await startFaultServer({ mode: "silent" });
  await using client = await connectRcon({ host, port: server.port, password });
  await assert.rejects(client.command("list", { timeoutMs: 30 }), { code: "timeout" });
  assert.equal(client.isOpen(), false);
  await assert.rejects(client.command("list"), { code: "timeout" });
});

test("a command that times out while it waits leaves the one before it alone", async () => {
  const gate = Promise.withResolvers<string>();
  const asked: string[] = [];
  const reply = (command: string) => {
    asked.push(command);
    return command === "slow" ? gate.promise : command;
  };
  await using server = await startFaultServer({ mode: "plain", reply });
  await using client = await connectRcon({ host, port: server.port, password });
  const slow = client.command("slow");
  await assert.rejects(client.command("hurried", { timeoutMs: 20 }), { code: "timeout" });
  gate.resolve("done");
  assert.equal(await slow, "done");
  assert.equal(await client.command("next"), "next");
  assert.deepEqual(asked, ["slow", "next"]);
});

const refusals: [name: string, mode: FaultMode, given: string, code: string][] = [
  ["a wrong password", "plain", "wrong", "auth"],
  ["a server that never answers", "deaf", password, "timeout"],
  ["a frame of a huge length", "huge", password, "protocol"],
];

for (const [name, mode, given, code] of refusals) {
  test(`${name} is refused as ${code}`, async () => {
    await using server = await startFaultServer({ mode });
    const options = { host, port: server.port, password: given, timeoutMs: code === "timeout" ? 50 : 5_000 };
    await assert.rejects(connectRcon(options), { name: "RconError", code });
    await assert.rejects(probe(options), { name: "RconError", code });
  });
}

test("a port where nobody listens is refused as connect", async () => {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  assert(address && typeof address === "object");
  server.close();
  await once(server, "close");
  await assert.rejects(connectRcon({ host, port: address.port, password }), { code: "connect" });
});

test("a server that closes after the password fails the next command as closed", async () => {
  await using server = await startFaultServer({ mode: "auth-close" });
  await using client = await connectRcon({ host, port: server.port, password });
  await assert.rejects(client.command("list"), { code: "closed" });
});

test("a server that forgets the password fails the command as auth", async () => {
  await using server = await startFaultServer({ mode: "revoked" });
  await using client = await connectRcon({ host, port: server.port, password });
  await assert.rejects(client.command("list"), { code: "auth" });
});

test("closing rejects the command in flight and the ones that wait", async () => {
  await using server = await startFaultServer({ mode: "silent" });
  const client = await connectRcon({ host, port: server.port, password });
  const inFlight = client.command("one");
  const waiting = client.command("two");
  const rejected = Promise.all([
    assert.rejects(inFlight, { code: "closed" }),
    assert.rejects(waiting, { code: "closed" }),
  ]);
  await client.close();
  await client.close();
  await rejected;
});

test("an aborted signal ends the connection, and one that is aborted already prevents it", async () => {
  await using server = await startFaultServer({ mode: "silent" });
  const controller = new AbortController();
  const client = await connectRcon({ host, port: server.port, password, signal: controller.signal });
  const command = client.command("list");
  controller.abort(new Error("not needed any more"));
  await assert.rejects(command, { code: "closed" });
  await assert.rejects(probe({ host, port: server.port, password, signal: controller.signal }), {
    code: "closed",
  });
  assert.equal(server.accepted(), 1);
});

test("a command that RCON can't carry is refused before it is sent", async () => {
  await using server = await startFaultServer({ mode: "strict" });
  await using client = await connectRcon({ host, port: server.port, password });
  await assert.rejects(client.command("a\nb"), { code: "protocol" });
  await assert.rejects(client.command("a\0b"), { code: "protocol" });
  await assert.rejects(client.command("ä".repeat(724)), { code: "too_long" });
  const longest = "ä".repeat(723);
  assert.equal(await client.command(longest), longest);
});

test("a reply above the cap is refused as too long", async () => {
  await using server = await startFaultServer({ mode: "plain", reply: () => "x".repeat(20_000) });
  await using client = await connectRcon({ host, port: server.port, password, maxReplyBytes: 10_000 });
  await assert.rejects(client.command("help"), { code: "too_long" });
});

test("a probe answers with the list and leaves no connection behind", async () => {
  const list = "There are 0 of a max of 20 players online: ";
  await using server = await startFaultServer({ mode: "plain", reply: () => list });
  const results = await Promise.all(
    Array.from({ length: 200 }, () => probe({ host, port: server.port, password })),
  );
  assert.equal(results.length, 200);
  for (const result of results) assert.deepEqual(result, { list });
  assert.equal(server.accepted(), 200);
});

test("a probe reads no more of a list than its cap, and keeps what it has read", async () => {
  const list = `There are 1 of a max of 20 players online: ${"[".repeat(1_000_000)}`;
  await using server = await startFaultServer({ mode: "plain", reply: () => list });
  const result = await probe({ host, port: server.port, password });
  assert.deepEqual(result, { list: list.slice(0, 16_384) });
});

test("an accepted password is readiness even when list is not answered", async () => {
  await using server = await startFaultServer({ mode: "silent" });
  const result = await probe({ host, port: server.port, password, timeoutMs: 50 });
  assert.equal(result.list, "");
  assert.equal(result.listFailure?.code, "timeout");
});
