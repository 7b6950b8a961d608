import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Folder } from "../path/folder.ts";
import { syncVolume } from "../path/sync-volume.ts";
import { TreeWriter } from "./extract.ts";
import type { Flushing } from "./write-pipeline.ts";

const content = randomBytes(3 << 20);
let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-extract-"));
});
after(() => rm(base, { recursive: true }));

async function write(name: string, flushing: Flushing): Promise<void> {
  await mkdir(join(base, name));
  await using target = await Folder.openRoot(join(base, name));
  await using writer = new TreeWriter(target, await target.stat(), flushing);
  const about = { kind: "file", mode: 0o640, mtimeMs: 1_500_000_000_123, size: content.length } as const;
  for (const path of ["a", "b", "c/d"]) await writer.file({ ...about, path }, chunks());
  await writer.finish();
}

async function* chunks() {
  for (let at = 0; at < content.length; at += 1 << 20) yield content.subarray(at, at + (1 << 20));
}

describe("a tree that is written with the disk at its heels", () => {
  test("is sent to the disk on the way, and whole", async () => {
    let count = 0;
    const sync = async (target: Folder) => {
      count += 1;
      await syncVolume(target);
    };
    await write("whole", { everyBytes: 1 << 20, sync });
    assert.ok(count > 0);
    for (const path of ["a", "b", "c/d"])
      assert.ok((await readFile(join(base, "whole", path))).equals(content));
  });

  test("is sent to the disk once in a while, not for each file", async () => {
    let count = 0;
    const sync = async () => {
      count += 1;
    };
    await write("seldom", { everyBytes: 7 << 20, sync });
    assert.equal(count, 1);
  });

  test("fails when the disk fails on the way, though a sync at the end would not hear of it", async () => {
    const sync = () => Promise.reject(new Error("the disk is broken"));
    await assert.rejects(write("broken", { everyBytes: 1 << 20, sync }), /the disk is broken/);
  });
});
