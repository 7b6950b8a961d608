// A reader asks for what the owner knows now: what it then reads includes every write that was acknowledged before.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type ServerInfo, servers } from "@svc/proto";
import type { Mesh, ViewMirror, ViewWriterOptions } from "../api.ts";
import { encodeJson } from "../json.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";
import { catchUpsIn, createRequests } from "./catch-up.ts";

// Marked often, so that a test does not wait for the first mark.
const view = { ...servers.servers, markEveryMs: 50 };

describe("requests that wait for a mark", () => {
  const body = (value: unknown) => encodeJson(value);
  for (const [what, value] of [
    ["nothing, as readers of older releases send", undefined],
    ["text", "catch up"],
    ["no reader", { request: 1 }],
    ["a reader with other characters", { reader: "a b", request: 1 }],
    ["a long reader", { reader: "r".repeat(33), request: 1 }],
    ["no number", { reader: "r", request: "1" }],
    ["half a number", { reader: "r", request: 1.5 }],
    ["null", null],
  ] as const)
    test(`${what} is no request`, () => {
      const requests = createRequests();
      assert.equal(requests.add(value === undefined ? new Uint8Array(0) : body(value)), false);
      assert.equal(requests.hasArrived(), false);
    });

  test("of each reader the last one counts, and is named by every later mark", () => {
    const requests = createRequests();
    for (const [reader, request] of [
      ["a", 1],
      ["b", 7],
      ["a", 3],
      ["a", 2],
    ] as const)
      assert.ok(requests.add(body({ reader, request })));
    assert.deepEqual(requests.take(), { requests: { b: 7, a: 3 }, isOpen: true });
    assert.deepEqual(requests.take(), { requests: { b: 7, a: 3 }, isOpen: true });
    requests.add(body({ reader: "b", request: 8 }));
    requests.vouched();
    assert.ok(requests.hasArrived());
    assert.deepEqual(requests.take(), { requests: { b: 8, a: 3 }, isOpen: true }, "it came after the mark");
    requests.vouched();
    assert.deepEqual(requests.take(), { requests: { b: 8, a: 3 }, isOpen: false });
  });

  test("of 65 readers the one that asked longest ago is forgotten", () => {
    const requests = createRequests();
    for (let at = 0; at < 64; at++) requests.add(body({ reader: `r${at}`, request: 1 }));
    requests.add(body({ reader: "r0", request: 2 }));
    requests.add(body({ reader: "new", request: 1 }));
    const named = Object.keys(requests.take().requests);
    assert.deepEqual([named.length, named.includes("r0"), named.includes("r1")], [64, true, false]);
  });

  test("a mark of an older release answers nobody", () => {
    assert.equal(catchUpsIn({ at: "2026-11-22T16:00:00.000Z", size: 2 }), undefined);
    assert.equal(catchUpsIn({ caughtUp: null }), undefined);
  });
});

describe("over NATS", () => {
  let nats: TestNats;
  let lifecycle: Mesh;
  let gateway: Mesh;
  before(async () => {
    nats = await startTestNats();
    lifecycle = await nats.connect("lifecycle");
    gateway = await nats.connect("gateway-external");
  });
  after(async () => {
    await gateway?.drain();
    await lifecycle?.drain();
    await nats?.stop();
  });

  const info = (name: string, playersOnline: number): ServerInfo => ({
    ...{ name, subdomain: name, phase: "Running", ready: true, playersOnline, playersMax: 20 },
    ...{
      idleStopSeconds: 600,
      image: "registry.example/minecraft:1",
      memory: "2Gi",
      desiredState: "Running",
    },
  });
  const playersIn = (mirror: ViewMirror, name: string) => {
    const bytes = mirror.get(name);
    return bytes && (JSON.parse(Buffer.from(bytes).toString()) as ServerInfo).playersOnline;
  };
  async function open(options: ViewWriterOptions = {}) {
    const writer = await lifecycle.writeView(view, options);
    await writer.replace(new Map([["a", info("a", 0)]]));
    const mirror = gateway.mirrorView(view);
    // Asking is what makes the owner mark the view, and the first mark shows that it answers.
    await until(() => mirror.isFresh() && mirror.ready);
    await until(() => mirror.catchUp(5_000));
    const close = async () => {
      await Promise.all([writer.close(), mirror.close()]);
    };
    return { writer, mirror, close };
  }

  test("what was written before the request is in the copy, also of many readers at once", async () => {
    const { writer, mirror, close } = await open();
    for (let players = 1; players <= 50; players++) {
      await writer.put("a", info("a", players));
      assert.deepEqual(await Promise.all([1, 2, 3].map(() => mirror.catchUp(5_000))), [true, true, true]);
      assert.equal(playersIn(mirror, "a"), players);
    }
    await close();
  });

  test("a request that comes while a mark is made is answered by the next one", async () => {
    let calls = 0;
    let gate = Promise.resolve();
    const isCurrent = async () => {
      calls += 1;
      await gate;
      return true;
    };
    const { writer, mirror, close } = await open({ isCurrent });
    const opened = Promise.withResolvers<void>();
    gate = opened.promise;
    const callsBefore = calls;
    const earlier = mirror.catchUp(5_000);
    await until(() => calls > callsBefore);
    await writer.put("a", info("a", 5));
    const later = mirror.catchUp(5_000);
    opened.resolve();
    assert.deepEqual([await earlier, await later], [true, true]);
    assert.ok(calls >= callsBefore + 2, "the owner was asked again");
    assert.equal(playersIn(mirror, "a"), 5);
    await close();
  });

  test("while the owner has something to write, its mark says at once that nobody is answered", async () => {
    let isWritten = true;
    const { mirror, close } = await open({ isWritten: async () => isWritten });
    isWritten = false;
    const startedAt = performance.now();
    assert.equal(await mirror.catchUp(60_000), false);
    assert.ok(performance.now() - startedAt < 5_000);
    assert.ok(mirror.isFresh());
    isWritten = true;
    await until(() => mirror.catchUp(5_000));
    await close();
  });

  test("while NATS is away nobody's copy counts as caught up, and it goes on after that", async () => {
    const own = await startTestNats();
    const [owner, reader] = await Promise.all([own.connect("lifecycle"), own.connect("gateway-external")]);
    const writer = await owner.writeView(view);
    await writer.replace(new Map([["a", info("a", 0)]]));
    const mirror = reader.mirrorView(view);
    await until(async () => mirror.isFresh() && (await mirror.catchUp(5_000)));
    await own.kill();
    assert.equal(await mirror.catchUp(300), false);
    assert.equal(await mirror.catchUp(60_000), false);
    await own.start();
    await until(() => mirror.isFresh() && mirror.catchUp(5_000), 20_000);
    await writer.put("a", info("a", 4));
    assert.ok(await mirror.catchUp(5_000));
    assert.equal(playersIn(mirror, "a"), 4);
    await Promise.all([writer.close(), mirror.close()]);
    await Promise.all([owner.drain(), reader.drain()]);
    await own.stop();
  });

  test("an owner that is gone is waited for once, and its successor is asked again", async () => {
    const { writer, mirror, close } = await open();
    await writer.close();
    assert.equal(await mirror.catchUp(200), false);
    const startedAt = performance.now();
    assert.equal(await mirror.catchUp(60_000), false);
    assert.ok(performance.now() - startedAt < 1_000, "no second wait");
    const successor = await lifecycle.writeView(view);
    await successor.replace(new Map([["a", info("a", 9)]]));
    await until(() => mirror.catchUp(5_000));
    assert.equal(playersIn(mirror, "a"), 9);
    await successor.close();
    await close();
  });
});
