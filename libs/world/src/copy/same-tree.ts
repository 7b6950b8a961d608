// Whether two trees are the same: names, kinds, modes, times and content.

import { type Found, type WalkOptions, walk } from "../archive/walk.ts";
import type { Folder } from "../path/folder.ts";
import type { SourceFile } from "../path/source-file.ts";

const chunkBytes = 1 << 20;
/** Large files that are compared beside each other. */
const atOnce = 3;

type Options = WalkOptions & { onProgress?: ((bytes: number) => void) | undefined };
type Held = Found & { kind: "file" | "folder" };

/** Throws at the first difference; that is never the caller's fault. What no world may hold is passed over on both sides. */
export async function assertSameTree(one: Folder, other: Folder, options: Options): Promise<void> {
  const [left, right] = [heldIn(one, options), heldIn(other, options)];
  await using comparison = new Comparison(options.onProgress);
  try {
    for (;;) {
      const [mine, theirs] = [(await left.next()).value, (await right.next()).value];
      if (!mine && !theirs) return await comparison.finish();
      if (!mine || !theirs || !looksSame(mine, theirs)) throw different((mine ?? theirs)?.path);
      if (mine.kind === "file" && theirs.kind === "file") await comparison.add(mine, theirs);
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

/** Compares small files at once and a few large ones at a time. */
class Comparison implements AsyncDisposable {
  readonly #onProgress: Options["onProgress"];
  // The same memory for all files: fresh memory costs more than what is read into it.
  readonly #spare: Pair[] = Array.from({ length: atOnce }, () => [
    Buffer.allocUnsafeSlow(chunkBytes),
    Buffer.allocUnsafeSlow(chunkBytes),
  ]);
  readonly #running: Promise<void>[] = [];
  #bytes = 0;

  constructor(onProgress: Options["onProgress"]) {
    this.#onProgress = onProgress;
  }

  /** Throws what differed so far. */
  async add(mine: HeldFile, theirs: HeldFile): Promise<void> {
    // The first in line may have ended long ago, and another one have its memory.
    while (this.#spare.length === 0 && this.#running.length > 0) await this.#running.shift();
    const buffers = this.#spare.pop();
    if (!buffers) throw new Error("a comparison gave its memory not back");
    const compared = this.#compare([mine.file, theirs.file], mine.path, buffers);
    compared.catch(() => undefined);
    if (mine.file.isSmall) return await compared;
    this.#running.push(compared);
  }

  /** Waits for all. Throws what differed. */
  async finish(): Promise<void> {
    while (this.#running.length > 0) await this.#running.shift();
  }

  async #compare(files: readonly [SourceFile, SourceFile], path: string, buffers: Pair): Promise<void> {
    try {
      // Numbers of their own: the walk closes its files when it goes on.
      await using one = files[0].again();
      await using other = files[1].again();
      await assertSameContent([one, other], path, buffers);
      this.#bytes += one.stats.size;
      this.#onProgress?.(this.#bytes);
    } finally {
      this.#spare.push(buffers);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}

async function assertSameContent(
  [one, other]: readonly [SourceFile, SourceFile],
  path: string,
  [mine, theirs]: Pair,
): Promise<void> {
  for (let at = 0; at < one.stats.size; ) {
    const counts = await Promise.all([one.read(mine, at), other.read(theirs, at)]);
    const count = Math.min(...counts);
    if (count === 0 || mine.compare(theirs, 0, count, 0, count) !== 0) throw different(path);
    at += count;
  }
}

function different(path: string | undefined): Error {
  return new Error(`${path ?? "a file"} is not the same in the copy as in the world`);
}
