import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { generateKey, seal } from "@svc/sealed";
import { writeChunks } from "../bundle/durable.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-release-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const chunksOf = (...sizes: number[]) => sizes.map((size) => Uint8Array.from(randomBytes(size)));

async function* from(chunks: readonly Uint8Array[]) {
  yield* chunks;
}

test("a chunk is freed when the next one is asked for, and not before", async () => {
  const chunks = chunksOf(70_000, 5);
  const released = releaseChunks(from(chunks));
  await released.next();
  assert.equal(chunks[0]?.length, 70_000);
  await released.next();
  assert.deepEqual(
    chunks.map(({ length }) => length),
    [0, 5],
  );
});

test("a reader that gives up has its chunk still: the kernel may be reading it", async () => {
  const chunks = chunksOf(70_000);
  for await (const _ of releaseChunks(from(chunks))) break;
  assert.equal(chunks[0]?.length, 70_000);
});

test("parts of other memory stay as they are", async () => {
  const whole = Buffer.alloc(100_000, 7);
  for await (const _ of releaseChunks(from([whole.subarray(10)])));
  assert.equal(whole[50], 7);
});

test("a received object is opened and written whole, whatever its chunks are", async () => {
  const key = generateKey();
  const plain = randomBytes(1_000_003);
  const sealed: Buffer[] = [];
  for await (const part of seal([plain], key)) sealed.push(part);
  const object = Buffer.concat(sealed);
  for (const size of [1_000, 65_536, 65_552, 300_000]) {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < object.length; at += size)
      chunks.push(Uint8Array.from(object.subarray(at, at + size)));
    const path = join(dir, `written-${size}`);
    await writeChunks(path, openReceived(from(chunks), { active: key, older: [] }));
    assert.ok(readFileSync(path).equals(plain), `chunks of ${size}`);
    assert.ok(chunks.every(({ length }) => length === 0));
  }
});

test("a source that fails, fails what is written", async () => {
  async function* broken() {
    yield Uint8Array.from(randomBytes(100_000));
    throw new Error("cut off");
  }
  await assert.rejects(writeChunks(join(dir, "broken"), broken()), /cut off/);
});
