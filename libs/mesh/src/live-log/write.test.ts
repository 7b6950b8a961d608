import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isFault, liveSubject } from "@svc/proto";
import type { LiveLogLine, Mesh } from "../api.ts";
import { startTestNats, type TestNats, until } from "../testing.ts";

let nats: TestNats;
let first: Mesh;
let second: Mesh;
let gateway: Mesh;

before(async () => {
  nats = await startTestNats();
  [first, second, gateway] = await Promise.all([
    nats.connect("lifecycle"),
    nats.connect("lifecycle"),
    nats.connect("gateway-external"),
  ]);
});
after(async () => {
  await Promise.all([gateway, first, second].map((mesh) => mesh?.drain(500)));
  await nats?.stop();
});

const place = (key: string) => ({ owner: "lifecycle", noun: "console", key }) as const;
const bytes = (text: string) => new TextEncoder().encode(text);
const line = (text: string, position: string) => ({ line: bytes(text), position });

/** Reads a source until it has ended. */
async function readAll(key: string, tail = 100): Promise<string[]> {
  const ticket = { stream: "LIFECYCLE_LIVE", subject: liveSubject("lifecycle", "console", key), tail };
  const lines: string[] = [];
  for await (const { line, isLast } of gateway.readLiveLog(ticket, AbortSignal.timeout(10_000))) {
    lines.push(Buffer.from(line).toString());
    if (isLast) return lines;
  }
  throw new Error(`no end after ${lines.join(", ")}`);
}

/** Reads what is stored until `count` lines have come. */
async function readAllStored(key: string, count: number): Promise<string[]> {
  const subject = liveSubject("lifecycle", "console", key);
  const ticket = { stream: "LIFECYCLE_LIVE", subject, tail: count };
  const lines: string[] = [];
  for await (const { line } of gateway.readLiveLog(ticket, AbortSignal.timeout(10_000)))
    if (lines.push(Buffer.from(line).toString()) >= count) break;
  return lines;
}

test("lines are stored in order, and the next writer gets the position of the last one", async () => {
  const writer = await first.openLiveLog(place("a.log"));
  assert.equal(writer.position(), undefined);
  for (let n = 0; n < 5; n++) assert.equal(await writer.write([line(`line ${n}`, `at ${n}`)]), true);
  assert.equal(writer.position(), "at 4");
  assert.equal((await second.openLiveLog(place("a.log"))).position(), "at 4");
});

test("once another writer has written, the previous one is rejected for good", async () => {
  const old = await first.openLiveLog(place("b.log"));
  await old.write([line("one", "1")]);
  const fresh = await second.openLiveLog(place("b.log"));
  assert.equal(await old.write([line("two", "2")]), true, "taking over alone refuses nobody");
  assert.equal(await fresh.write([line("two", "2")]), false, "the old one was faster");
  const again = await second.openLiveLog(place("b.log"));
  assert.equal(again.position(), "2");
  assert.equal(await again.write([line("three", "3")]), true);
  assert.equal(await old.write([line("three", "3")]), false);
  assert.equal(await old.write([line("four", "4")]), false);
});

test("many writers of one source store no line twice", async () => {
  const write = async (mesh: Mesh) => {
    for (;;) {
      const writer = await mesh.openLiveLog(place("c.log"));
      let next = Number(writer.position() ?? -1) + 1;
      while (next < 200 && (await writer.write([line(`line ${next}`, String(next))]))) next++;
      if (next >= 200) return;
    }
  };
  await Promise.all([write(first), write(second), write(first), write(second)]);
  const reading = readAll("c.*", 1_000);
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`);
  await until(async () => {
    await first.endLiveLog(place("c.note"), bytes("end"));
    const notYet = new Promise<boolean>((later) => setTimeout(() => later(false), 20));
    return Promise.race([reading.then(() => true), notYet]);
  });
  const read = (await reading).filter((line) => line !== "end");
  assert.deepEqual(read, lines);
});

test("lines that are written together are read one by one, empty ones as well", async () => {
  const writer = await first.openLiveLog(place("f.log"));
  const long = "x".repeat(40_000);
  const lines = ["one", "", "two", long, long, long, "", "last"];
  assert.equal(await writer.write(lines.map((text, n) => line(text, `at ${n}`))), true);
  await first.endLiveLog(place("f.note"), bytes("end"));
  assert.deepEqual(await readAllStored("f.*", 9), [...lines, "end"]);
  assert.deepEqual(await readAllStored("f.*", 3), ["", "last", "end"], "the tail counts lines");
  assert.equal((await second.openLiveLog(place("f.log"))).position(), "at 7");
});

test("of lines that are written again, those that are stored are left out", async () => {
  const writer = await first.openLiveLog(place("g.log"));
  const [one, two, three] = ["1", "2", "3"].map((n) => line(`line ${n}`, n)) as [
    LiveLogLine,
    LiveLogLine,
    LiveLogLine,
  ];
  assert.equal(await writer.write([one, two]), true);
  assert.equal(await writer.write([one, two, three]), true);
  assert.equal(await writer.write([two, three]), true);
  assert.deepEqual(await readAllStored("g.*", 3), ["line 1", "line 2", "line 3"]);
});

test("notes next to a source do not reject its writer", async () => {
  const writer = await first.openLiveLog(place("d.log"));
  await writer.write([line("one", "1")]);
  await second.publishLiveLine(place("d.note"), bytes("a note"));
  assert.equal(await writer.write([line("two", "2")]), true);
});

test("a line that may have been stored when NATS died is not stored again", async () => {
  const own = await startTestNats();
  const owner = await own.connect("lifecycle");
  const writer = await owner.openLiveLog(place("e"));
  await writer.write([line("one", "1")]);
  const failing = writer.write([line("two", "2")]).catch((error: unknown) => error);
  await own.kill();
  const outcome = await failing;
  assert.ok(outcome === true || (isFault(outcome) && outcome.fault === "unavailable"));
  await own.start();
  await until(() => owner.status().connected);
  await until(() => writer.write([line("two", "2")]).catch(() => false));
  assert.equal(await writer.write([line("three", "3")]), true);
  const reader = await own.connect("gateway-external");
  const lines: string[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    const ticket = { stream: "LIFECYCLE_LIVE", subject: liveSubject("lifecycle", "console", "e"), tail: 10 };
    for await (const { line } of reader.readLiveLog(ticket, stop.signal))
      lines.push(Buffer.from(line).toString());
  })();
  await until(() => lines.includes("three"));
  assert.equal(lines.filter((line) => line === "two").length, 1);
  stop.abort();
  await reading;
  await Promise.all([reader, owner].map((mesh) => mesh.drain(500)));
  await own.stop();
});
