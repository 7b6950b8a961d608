// Whether two trees are the same: names, kinds, modes, times and content.

import { type Found, type WalkOptions, walk } from "../archive/walk.ts";
import type { Folder } from "../path/folder.ts";

const chunkBytes = 1 << 20;

type Options = WalkOptions & { onProgress?: ((bytes: number) => void) | undefined };
type Held = Found & { kind: "file" | "folder" };

/** Throws at the first difference; that is never the caller's fault. What no world may hold is passed over on both sides. */
export async function assertSameTree(one: Folder, other: Folder, options: Options): Promise<void> {
  const [left, right] = [heldIn(one, options), heldIn(other, options)];
  // The same memory for all files: fresh memory costs more than what is read into it.
  const buffers: Pair = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
  try {
    let bytes = 0;
    for (;;) {
      const [mine, theirs] = [(await left.next()).value, (await right.next()).value];
      if (!mine && !theirs) return;
      if (!mine || !theirs || !looksSame(mine, theirs)) throw different(mine ?? theirs);
      if (mine.kind !== "file" || theirs.kind !== "file") continue;
      await assertSameContent(mine, theirs, buffers);
      bytes += mine.stats.size;
      options.onProgress?.(bytes);
    }
  } finally {
    await left.return(undefined);
    await right.return(undefined);
  }
}

async function* heldIn(root: Folder, options: WalkOptions): AsyncGenerator<Held, undefined> {
  for await (const found of walk(root, options)) if (found.kind !== "other") yield found;
}

function looksSame(one: Held, other: Held): boolean {
  const [mine, theirs] = [one.stats, other.stats];
  return (
    one.path === other.path &&
    one.kind === other.kind &&
    (mine.mode & 0o777) === (theirs.mode & 0o777) &&
    Math.floor(mine.mtimeMs) === Math.floor(theirs.mtimeMs) &&
    (one.kind === "folder" || mine.size === theirs.size)
  );
}

type HeldFile = Found & { kind: "file" };
type Pair = readonly [Buffer, Buffer];

async function assertSameContent(one: HeldFile, other: HeldFile, [mine, theirs]: Pair): Promise<void> {
  for (let at = 0; at < one.stats.size; ) {
    const counts = await Promise.all([one.file.read(mine, at), other.file.read(theirs, at)]);
    const count = Math.min(...counts);
    if (count === 0 || mine.compare(theirs, 0, count, 0, count) !== 0) throw different(one);
    at += count;
  }
}

function different(found: Held | undefined): Error {
  return new Error(`${found?.path ?? "a file"} is not the same in the copy as in the world`);
}
