// How much of an archive is read for one file of it: the world is smaller than a real one, the proportion is the same.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { link, mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openArchive } from "../archive/open.ts";
import { writeArchive } from "../archive/write.ts";
import { Folder } from "../path/folder.ts";
import { writeAll } from "../path/write-all.ts";
import { browseArchive, restorePaths } from "./partial-restore.ts";

const regions = 30;
const wanted = randomBytes(1 << 20);
let base: string;
let sha256: string;
let sizeBytes: number;
const at = (...names: string[]) => join(base, ...names);

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-pick-"));
  await mkdir(at("world", "region"), { recursive: true });
  // Too far apart for zstd to see that they are alike.
  const chunks = randomBytes(4 << 20);
  await writeFile(at("world", "region", "r.0"), chunks);
  for (let index = 1; index < regions; index += 1)
    await link(at("world", "region", "r.0"), at("world", "region", `r.${index}`));
  await writeFile(at("world", "region", "r.20x"), wanted);
  await using world = await Folder.openRoot(at("world"));
  await using archive = await open(at("archive"), "wx");
  const write = (chunk: Buffer) => writeAll(archive, chunk);
  ({ sha256, sizeBytes } = await writeArchive(world, { compression: "zstd", write }));
});
after(() => rm(base, { recursive: true }));

/** The archive, and the share of it that was read. */
async function openCounted() {
  const archive = await open(at("archive"));
  let count = 0;
  const read = archive.read.bind(archive) as (...args: unknown[]) => Promise<{ bytesRead: number }>;
  Object.assign(archive, {
    read: async (...args: unknown[]) => {
      const result = await read(...args);
      count += result.bytesRead;
      return result;
    },
  });
  return { archive, share: () => count / sizeBytes };
}

describe("one file of 1 MiB out of an archive of 121 MiB", () => {
  test("is restored from at most 5 % of it", async () => {
    await mkdir(at("empty"));
    await using world = await Folder.openRoot(at("empty"));
    const { archive, share } = await openCounted();
    await using _ = archive;
    await restorePaths({ world, archive, sha256, only: ["region/r.20x"] });
    assert.ok((await readFile(at("empty", "region", "r.20x"))).equals(wanted));
    assert.ok(share() > 0.005 && share() <= 0.05, `${(share() * 100).toFixed(1)} % was read`);
  });

  test("is found by its index alone", async () => {
    const { archive, share } = await openCounted();
    await using _ = archive;
    const { listing } = await browseArchive(await openArchive(archive), { path: "region", most: 100 });
    assert.equal(listing.length, regions + 1);
    assert.ok(share() < 0.001, `${(share() * 100).toFixed(3)} % was read`);
  });
});
