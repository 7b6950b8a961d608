// Writes small files in one call and commits staged uploads.

import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { WorldFault } from "../fault.ts";
import { createFileWriter } from "../path/file-writer.ts";
import type { Folder } from "../path/folder.ts";
import { parseTarget } from "../path/parse.ts";
import { assertWritable, findProtected } from "../path/protect.ts";
import { writeAll } from "../path/write-all.ts";
import { commitFile } from "./commit.ts";
import { createPartDigests, type DigestedPart } from "./part-digests.ts";
import { readPrevious } from "./previous.ts";
import { digestOf } from "./read.ts";

type WritePlan = {
  path: string;
  content: Buffer;
  contentSha256: string;
  /** The digest that the file must have before the write. */
  expectSha256?: string | undefined;
  createOnly?: boolean | undefined;
  /** Longest text that is returned as what the file was before; none by default. */
  mostPreviousBytes?: number | undefined;
};

type Previous = {
  /** What the file was before, when it was text and no longer than wanted. */
  previous: Buffer | undefined;
};

/** Throws `digest_mismatch`, `bad_path`, `not_found` (the folder), `file_exists`, `file_changed`, `volume_full`. */
export async function writeSmallFile(world: Folder, plan: WritePlan): Promise<{ sha256: string } & Previous> {
  const sha256 = digestOf(plan.content);
  if (sha256 !== plan.contentSha256)
    throw new WorldFault("digest_mismatch", "The content does not match the digest that was sent with it.");
  await using target = await openTarget(world, plan.path);
  const { folder, name, there } = target;
  if (plan.createOnly && there) throw exists(plan.path);
  if (plan.expectSha256 !== undefined) await assertUnchanged(target, plan.expectSha256);
  const previous = await readPrevious(folder, { name, there, mostBytes: plan.mostPreviousBytes ?? -1 });
  const commit = { world, folder, name, there, isNew: plan.createOnly ?? false, size: plan.content.length };
  await commitFile(commit, (file) => writeAll(file, plan.content));
  return { sha256, previous: previous?.equals(plan.content) ? undefined : previous };
}

type UploadPlan = {
  path: string;
  overwrite: boolean;
  parts: readonly DigestedPart[];
  content: AsyncIterable<Buffer>;
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** As of `writeSmallFile`. */
  mostPreviousBytes?: number | undefined;
};

/** Throws as `writeSmallFile`, and `digest_mismatch` when the content is not what was staged. */
export async function commitUpload(world: Folder, plan: UploadPlan): Promise<Previous> {
  await using target = await openTarget(world, plan.path);
  if (target.there && !plan.overwrite) throw exists(plan.path);
  const mostBytes = plan.mostPreviousBytes ?? -1;
  const previous = await readPrevious(target.folder, { ...target, mostBytes });
  const size = plan.parts.reduce((sum, part) => sum + part.size, 0);
  const commit = { world, ...target, isNew: !plan.overwrite, size };
  await commitFile(commit, async (file) => {
    const digests = createPartDigests(plan.parts);
    const writer = createFileWriter(file);
    let done = 0;
    for await (const chunk of plan.content) {
      digests.update(chunk);
      if (!writer.write(chunk)) await writer.flush();
      done += chunk.length;
      plan.onProgress?.(done, size);
    }
    digests.end();
    await writer.finish();
  });
  return { previous };
}

type Target = { folder: Folder; name: string; there: Stats | undefined };

/** Opens the folder of a file that may be written: the folder exists, and the name is neither a folder nor a link. */
async function openTarget(world: Folder, path: string): Promise<Target & AsyncDisposable> {
  const { parents, name } = parseTarget(path);
  const known = await findProtected(world);
  const folder = await world.descend(parents);
  try {
    const there = await folder.find(name);
    assertWritable(known, [...parents, name], there);
    if (there && !there.isFile()) throw new WorldFault("bad_path", `${path} is not a regular file.`);
    return { folder, name, there, [Symbol.asyncDispose]: () => folder.close() };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function assertUnchanged({ folder, name, there }: Target, expected: string): Promise<void> {
  if (there) {
    await using file = await folder.openFile(name);
    const hash = createHash("sha256");
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 }))
      hash.update(chunk as Buffer);
    if (hash.digest("hex") === expected) return;
  }
  throw new WorldFault("file_changed", `${name} has changed since it was read; read it again.`);
}

function exists(path: string): WorldFault {
  return new WorldFault("file_exists", `${path} already exists.`, { entry: path });
}
