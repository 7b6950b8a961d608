// What a relay inflates of a peer that means harm, and what it builds anew for one that compresses differently.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { socketPair } from "../testing/sockets.ts";
import { varint } from "./bytes.ts";
import { Connection } from "./connection.ts";
import { encodeFrame } from "./frame.ts";
import type { Interest, Relay } from "./relay.ts";
import { startRelay } from "./relay-frames.ts";
import { Work, workOf } from "./work.ts";

const [passing, dropped, counted] = [47, 25, 29];

/** A relay between two sockets, and what its target has read as packets. */
async function startFixture(thresholds: { from: number; to: number }) {
  const [[near, source], [outer, end]] = await Promise.all([socketPair(), socketPair()]);
  const [from, to, target] = [new Connection(near), new Connection(outer), new Connection(end)];
  from.threshold = thresholds.from;
  to.threshold = target.threshold = thresholds.to;
  const seen: number[] = [];
  const filter = new Map<number, Interest>([
    [dropped, "inspect"],
    [counted, "notify"],
  ]);
  const note = (id: number) => seen.push(id) > 0;
  const relay: Relay = { to, filter, peekBytes: 4_096, onPacket: note, onPassed: (id) => void note(id) };
  startRelay(from, relay);
  const close = () => {
    for (const socket of [near, source, outer, end]) socket.destroy();
  };
  return { from, to, relay, source, target, seen, [Symbol.dispose]: close };
}

const packed = (body: Buffer) => {
  const content = Buffer.concat([varint(body.length), deflateSync(body)]);
  return Buffer.concat([varint(content.length), content]);
};
const packet = (id: number, fields: Buffer) => Buffer.concat([varint(id), fields]);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("frames that inflate to megabytes pass without being inflated, also to a peer with a higher threshold", async () => {
  using fixture = await startFixture({ from: 64, to: 256 });
  const { from, source, end } = { ...fixture, end: fixture.target.socket };
  const bomb = packed(packet(passing, Buffer.alloc(2_000_000)));
  const sent = Buffer.concat(new Array<Buffer>(200).fill(bomb));
  source.write(sent);
  let arrived = Buffer.alloc(0);
  for await (const chunk of end.iterator({ destroyOnReturn: false })) {
    arrived = Buffer.concat([arrived, chunk as Buffer]);
    if (arrived.length >= sent.length) break;
  }
  assert.ok(arrived.equals(sent));
  assert.equal(from.work.spent, sent.length, "400 MB would have been inflated");
});

const bombs = {
  "8 MiB in 8 kB": packed(packet(passing, Buffer.alloc(8_388_607))),
  "more than a packet may have": Buffer.concat([varint(12), varint(8_388_609), Buffer.alloc(8)]),
  "nothing, written as if it were something": Buffer.concat([
    varint(12),
    Buffer.of(0x80, 0),
    Buffer.alloc(10),
  ]),
};
for (const [what, bomb] of Object.entries(bombs)) {
  test(`a frame that says it inflates to ${what} closes its own connection, uninflated`, async () => {
    using fixture = await startFixture({ from: 64, to: 256 });
    fixture.source.write(bomb);
    assert.equal((await fixture.from.closed)?.code, "frame");
    assert.equal(fixture.from.work.spent, bomb.length);
  });
}

test("large packets may be packed as they are by real servers", async () => {
  using fixture = await startFixture({ from: 256, to: 256 });
  const { source, target } = fixture;
  // A registry of a modpack, and a column of full light in a world 4064 blocks tall.
  for (const body of [Buffer.alloc(6_000_000, randomBytes(10_000)), Buffer.alloc(1_100_000, 0xff)]) {
    source.write(packed(packet(passing, body)));
    assert.ok((await target.next()).reader.rest().equals(body));
  }
});

for (const [from, to] of [
  [64, 256],
  [256, -1],
  [-1, 256],
  [-1, -2],
] as const) {
  test(`packets of all sizes arrive in order from threshold ${from} at ${to}, but for those that are dropped`, async () => {
    using fixture = await startFixture({ from, to });
    const { source, target, seen } = fixture;
    const sizes = [0, 1, 70, 300, 90_000, 5, 200, 1_500_000, 20_000, 255, 40_000, 3];
    const bodies = sizes.flatMap((size) => [
      packet(passing, randomBytes(size)),
      packet(dropped, Buffer.alloc(Math.min(size, 4_000))),
      packet(counted, Buffer.alloc(Math.min(size, 4_000), 7)),
    ]);
    source.write(Buffer.concat(bodies.map((body) => encodeFrame(body, from))));
    for (const body of bodies.filter(([id]) => id !== dropped))
      assert.ok((await target.next()).body.equals(body));
    assert.deepEqual(
      seen,
      sizes.flatMap(() => [dropped, counted]),
    );
  });
}

test("a peer that has used up its budget is paused, and nothing more is inflated for it", async () => {
  using fixture = await startFixture({ from: 256, to: -1 });
  const { from, source, target } = fixture;
  const limits = { burst: 3_000_000, perSecond: 1 };
  from.work = new Work(limits, () => 0);
  const bytes = 900_000;
  const frame = packed(packet(passing, Buffer.alloc(bytes - 1)));
  for (let count = 0; count < 20; count++) source.write(frame);
  for (let count = 0; count < 4; count++) assert.equal((await target.next()).body.length, bytes);
  for (let quiet = 0; quiet < 50; quiet++) await turn();
  assert.ok(from.socket.isPaused());
  assert.equal(from.work.spent, from.socket.bytesRead + 4 * workOf.inflate(bytes));
});

test("inspected packets are charged, compressed or not", async () => {
  using fixture = await startFixture({ from: 256, to: 256 });
  const { from, source, target, seen } = fixture;
  from.work = new Work({ burst: 1_000_000, perSecond: 1 }, () => 0);
  const flood = Buffer.concat(
    new Array<Buffer>(2_000).fill(encodeFrame(packet(dropped, Buffer.alloc(3)), 256)),
  );
  source.write(flood);
  while (!from.socket.isPaused() || seen.length < 100) await turn();
  assert.equal(seen.length, Math.ceil((1_000_000 - flood.length) / workOf.inspect));
  assert.equal(target.socket.bytesRead, 0);
});

test("a paused peer is read again once its debt is paid, without loss", async () => {
  using fixture = await startFixture({ from: 256, to: -1 });
  const { from, source, target } = fixture;
  from.work = new Work({ burst: 100_000, perSecond: 30_000_000 });
  const bodies = Array.from({ length: 12 }, () => packet(passing, randomBytes(100_000)));
  for (const body of bodies) source.write(packed(body));
  for (const body of bodies) assert.ok((await target.next()).body.equals(body));
});
