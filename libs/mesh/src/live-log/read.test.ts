import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { liveSubject, type StreamTicket } from "@svc/proto";
import type { Mesh } from "../api.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

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

const say = (key: string, line: string) =>
  lifecycle.publishLiveLine({ owner: "lifecycle", noun: "console", key }, new TextEncoder().encode(line));

function ticket(key: string, more: Partial<StreamTicket> = {}): StreamTicket {
  return { stream: "LIFECYCLE_LIVE", subject: liveSubject("lifecycle", "console", key), tail: 100, ...more };
}

type Viewer = { lines: string[]; seconds: number[]; ended: Promise<void>; leave: () => void };

function view(from: StreamTicket, reader = gateway): Viewer {
  const stop = new AbortController();
  const lines: string[] = [];
  const seconds: number[] = [];
  const ended = (async () => {
    for await (const { atSeconds, line } of reader.readLiveLog(from, stop.signal)) {
      lines.push(Buffer.from(line).toString());
      seconds.push(atSeconds);
    }
  })();
  return { lines, seconds, ended, leave: () => stop.abort() };
}

test("a viewer gets the last lines, then every new one, each once and with its second", async () => {
  for (let n = 0; n < 30; n++) await say("alpha", `old ${n}`);
  await say("other", "not mine");
  const viewer = view(ticket("alpha", { tail: 10 }));
  await until(() => viewer.lines.length === 10);
  assert.equal(viewer.lines[0], "old 20");
  for (let n = 0; n < 5; n++) await say("alpha", `new ${n}`);
  await until(() => viewer.lines.length === 15);
  assert.deepEqual(viewer.lines.slice(10), ["new 0", "new 1", "new 2", "new 3", "new 4"]);
  assert.ok(viewer.seconds.every((at) => Math.abs(Date.now() / 1_000 - at) < 10));
  viewer.leave();
  await viewer.ended;
});

test("a viewer that reconnects with a time gets everything from then on", async () => {
  await say("beta", "one");
  const first = view(ticket("beta"));
  await until(() => first.lines.length === 1);
  first.leave();
  await first.ended;
  const since = first.seconds[0] ?? 0;
  await say("beta", "two");
  const again = view(ticket("beta", { since, tail: 0 }));
  await until(() => again.lines.length === 2);
  assert.deepEqual(again.lines, ["one", "two"]);
  again.leave();
  await again.ended;
});

test("lines stored during the replay are neither lost nor duplicated", async () => {
  let isWriting = true;
  let written = 0;
  const writing = (async () => {
    while (isWriting) await say("gamma", `line ${written++}`);
  })();
  await until(() => written > 50);
  const viewers = Array.from({ length: 5 }, () => view(ticket("gamma", { tail: 5 })));
  await until(() => viewers.every(({ lines }) => lines.length > 100));
  isWriting = false;
  await writing;
  await until(() => viewers.every(({ lines }) => lines.at(-1) === `line ${written - 1}`));
  for (const { lines, leave } of viewers) {
    const first = Number(lines[0]?.slice(5));
    assert.deepEqual(
      lines,
      Array.from({ length: lines.length }, (_, n) => `line ${first + n}`),
    );
    leave();
  }
  await Promise.all(viewers.map(({ ended }) => ended));
});

test("a viewer without a position starts with the next line", async () => {
  await say("delta", "before");
  const viewer = view(ticket("delta", { tail: 0 }));
  await until(async () => {
    await say("delta", "after");
    return viewer.lines.length > 0;
  });
  assert.ok(!viewer.lines.includes("before"));
  viewer.leave();
  await viewer.ended;
});

test("a viewer that does not read is closed, and another viewer of the same console misses nothing", async () => {
  const slow = gateway.readLiveLog(ticket("slow", { tail: 0 }), AbortSignal.timeout(20_000));
  const iterator = slow[Symbol.asyncIterator]();
  const fast = view(ticket("slow", { tail: 0 }));
  const first = iterator.next();
  await until(async () => {
    await say("slow", "first");
    return fast.lines.length > 0;
  });
  await first;
  const batch = Array.from({ length: 2_200 }, (_, n) => n);
  for (let at = 0; at < batch.length; at += 100)
    await Promise.all(batch.slice(at, at + 100).map((n) => say("slow", `line ${n}`)));
  await until(() => fast.lines.filter((line) => line !== "first").length === 2_200);
  let more = 0;
  for (;;) {
    const { done } = await iterator.next();
    if (done) break;
    more += 1;
  }
  assert.ok(more <= 2_001, `${more} lines waited`);
  fast.leave();
  await fast.ended;
});

test("a viewer of a stream that does not exist yet gets its first line", async () => {
  const early = view({ stream: "BUILDS_LIVE", subject: liveSubject("builds", "log", "b1"), tail: 0 });
  const builds = await nats.connect("builds");
  await until(async () => {
    await builds.publishLiveLine(
      { owner: "builds", noun: "log", key: "b1" },
      new TextEncoder().encode("hello"),
    );
    return early.lines.length > 0;
  });
  early.leave();
  await early.ended;
  await builds.drain();
});

test("viewers continue after NATS was killed, without duplicates", async () => {
  const own = await startTestNats();
  const owner = await own.connect("lifecycle");
  const reader = await own.connect("gateway-external");
  const tell = (line: string) =>
    owner.publishLiveLine({ owner: "lifecycle", noun: "console", key: "e" }, new TextEncoder().encode(line));
  await tell("before");
  const viewer = view(ticket("e"), reader);
  await until(() => viewer.lines.length === 1);
  await own.kill();
  await own.start();
  await until(() => owner.status().connected && reader.status().connected && owner.status().reconnects === 1);
  await tell("after");
  await until(() => viewer.lines.length === 2);
  assert.deepEqual(viewer.lines, ["before", "after"]);
  await reader.drain();
  await viewer.ended;
  await owner.drain();
  await own.stop();
});
