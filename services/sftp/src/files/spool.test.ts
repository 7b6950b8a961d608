import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createRoom, openSpool, SpoolFull } from "./spool.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-spool-"));
after(() => rmSync(dir, { recursive: true }));

test("what is written in any order is read, and gaps are zeros", async () => {
  await using spool = await openSpool({ dir, room: createRoom(1_000) });
  await spool.write(6, Buffer.from("six"));
  await spool.write(0, Buffer.from("one"));
  assert.equal((await spool.read(0, 100)).toString(), "one\0\0\0six");
  assert.equal((await spool.read(9, 10)).length, 0);
  await spool.truncate(2);
  assert.deepEqual([(await spool.read(0, 10)).toString(), spool.size()], ["on", 2]);
  await spool.truncate(4);
  assert.equal((await spool.read(0, 10)).toString(), "on\0\0");
});

test("a spooled file has no name, so that no end of the process leaves it", async () => {
  await using spool = await openSpool({ dir, room: createRoom(1_000) });
  await spool.write(0, Buffer.from("x"));
  assert.deepEqual(readdirSync(dir), []);
});

test("room is counted once for all, given back at the end, and never taken beyond its bounds", async () => {
  const all = createRoom(100);
  const [one, other] = [createRoom(60, all), createRoom(60, all)];
  const first = await openSpool({ dir, room: one });
  const second = await openSpool({ dir, room: other });
  await first.write(0, Buffer.alloc(60));
  await first.write(0, Buffer.alloc(60));
  await assert.rejects(first.write(60, Buffer.alloc(1)), SpoolFull);
  await assert.rejects(first.truncate(2 ** 50), SpoolFull);
  await assert.rejects(second.write(0, Buffer.alloc(41)), SpoolFull);
  await second.write(0, Buffer.alloc(40));
  assert.equal(all.used(), 100);
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  assert.equal(all.used(), 0);
});
