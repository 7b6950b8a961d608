import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { releaseBuffer, releaseConsumed, retainBuffer, shareBuffer } from "./buffer-release.ts";
import { Folder } from "./path/folder.ts";
import { TreeWriter } from "./restore/extract.ts";

const mebibyte = 1 << 20;

describe("large buffers", () => {
  test("are freed with the last reference, and not before", () => {
    const whole = Buffer.alloc(mebibyte, 1);
    const part = whole.subarray(10, 20);
    shareBuffer(whole);
    retainBuffer(part);
    retainBuffer(part);
    releaseBuffer(whole);
    releaseBuffer(part);
    assert.equal(part.length, 10);
    releaseBuffer(part);
    assert.equal(part.length, 0);
    assert.equal(whole.length, 0);
  });

  test("are left alone unless they were shared", () => {
    const whole = Buffer.alloc(mebibyte, 1);
    retainBuffer(whole);
    releaseBuffer(whole);
    releaseBuffer(whole);
    assert.equal(whole.length, mebibyte);
  });

  test("are never freed when small, since they share their memory", () => {
    const small = Buffer.allocUnsafe(100);
    const neighbour = Buffer.allocUnsafe(100);
    shareBuffer(small);
    releaseBuffer(small);
    releaseConsumed(small);
    assert.equal(small.length, 100);
    assert.equal(neighbour.length, 100);
  });

  test("are freed by their last part only", () => {
    const whole = Buffer.alloc(mebibyte, 1);
    const [first, last] = [whole.subarray(0, 1_000), whole.subarray(1_000)];
    releaseConsumed(first);
    assert.equal(last.length, mebibyte - 1_000);
    releaseConsumed(last);
    assert.equal(first.length, 0);
  });

  test("are left alone when they belong to other threads", () => {
    const shared = Buffer.from(new SharedArrayBuffer(mebibyte));
    releaseConsumed(shared);
    shareBuffer(shared);
    releaseBuffer(shared);
    assert.equal(shared.length, mebibyte);
  });

  test("a chunk is retained until it is written, however early its reader releases it", async () => {
    const path = await mkdtemp(join(tmpdir(), "svc-memory-"));
    await using folder = await Folder.openRoot(path);
    const expected = Buffer.concat([Buffer.alloc(mebibyte, 7), Buffer.alloc(mebibyte, 8)]);
    const frame = Buffer.from(expected);
    async function* content() {
      shareBuffer(frame);
      yield frame.subarray(0, mebibyte);
      yield frame.subarray(mebibyte);
      releaseBuffer(frame);
      // No turn of the event loop has passed, so neither write can have ended.
      assert.equal(frame.length, expected.length);
    }
    try {
      const owner = await folder.stat();
      await using writer = new TreeWriter(folder, owner);
      const entry = { path: "large", kind: "file" as const, mode: 0o644, mtimeMs: 0, size: expected.length };
      await writer.file(entry, content());
      await writer.finish();
      assert.equal(frame.length, 0);
      assert.ok((await readFile(join(path, "large"))).equals(expected));
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });

  test("a small file is complete, in one chunk or two, after their reader released them", async () => {
    const path = await mkdtemp(join(tmpdir(), "svc-memory-"));
    await using folder = await Folder.openRoot(path);
    async function* content(fills: number[]) {
      for (const fill of fills) {
        const frame = Buffer.alloc(100_000, fill);
        shareBuffer(frame);
        yield frame;
        releaseBuffer(frame);
      }
    }
    try {
      const owner = await folder.stat();
      await using writer = new TreeWriter(folder, owner);
      const entry = { kind: "file" as const, mode: 0o644, mtimeMs: 0 };
      await writer.file({ ...entry, path: "one", size: 100_000 }, content([1]));
      await writer.file({ ...entry, path: "two", size: 200_000 }, content([1, 2]));
      await writer.finish();
      const [first, second] = [Buffer.alloc(100_000, 1), Buffer.alloc(100_000, 2)];
      assert.ok((await readFile(join(path, "one"))).equals(first));
      assert.ok((await readFile(join(path, "two"))).equals(Buffer.concat([first, second])));
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });
});
