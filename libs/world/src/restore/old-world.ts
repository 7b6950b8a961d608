// Files of the old world that the archive holds too. The new tree gets another name of them instead of another copy, which
// saves writing them and, on a volume that is too small for two worlds, their room (ADR 0011).

import type { TarEntry } from "../archive/tar-header.ts";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import type { Folder } from "../path/folder.ts";
import { SourceFile } from "../path/source-file.ts";

const chunkBytes = 1 << 20;

/** A file of the old world that was read once cannot be read again. Whoever restores begins anew, without the old world. */
export class OldWorldUnreadable extends Error {
  override name = "OldWorldUnreadable";
}

/** A file of the old world that looks from outside as an entry will. */
export type OldFile = { folder: Folder; name: string; file: SourceFile };

export class OldWorld implements AsyncDisposable {
  readonly #cursor: Cursor;
  /** The same for all files: fresh memory costs more than what is read into it. */
  readonly #memory = Buffer.allocUnsafeSlow(chunkBytes);
  /** What every path in a folder that is not there begins with. */
  #absent: string | undefined;

  constructor(root: Folder) {
    this.#cursor = new Cursor(root);
  }

  /**
   * The file at the place of an entry, open, when its size, mode and time are those of the entry and it has no other name.
   * Whose it is does not count: prepare-data gives all files to the game's user before the next start. What cannot be
   * opened, for whatever reason, is not there. Good until the next call.
   */
  async open(entry: TarEntry): Promise<OldFile | undefined> {
    // Only what is data of it is in the archive, so there is nothing to read beside all of the old one.
    if (entry.stored !== undefined) return undefined;
    if (this.#absent !== undefined && entry.path.startsWith(this.#absent)) return undefined;
    const { folder: outer, name } = splitPath(entry.path);
    const folder = await this.#cursor.at(outer).catch(() => undefined);
    if (!folder) {
      this.#absent = `${outer}/`;
      return undefined;
    }
    let file: SourceFile;
    try {
      file = SourceFile.open(folder, name);
    } catch {
      return undefined;
    }
    if (this.#looksLike(entry, file)) return { folder, name, file };
    await file[Symbol.asyncDispose]();
    return undefined;
  }

  /** Bytes of files that need no room of their own, by their looks. */
  async bytesOf(entries: AsyncIterable<TarEntry>, sizeOf: (size: number) => number): Promise<number> {
    let bytes = 0;
    for await (const entry of entries) {
      const old = entry.kind === "file" ? await this.open(entry) : undefined;
      if (!old) continue;
      await old.file[Symbol.asyncDispose]();
      bytes += sizeOf(entry.size);
    }
    return bytes;
  }

  /**
   * Reads content beside a file. Gives nothing when the file holds just that, otherwise all of the content, what was read
   * already included; that throws `OldWorldUnreadable`. One call at a time.
   */
  async compare(
    file: SourceFile,
    content: AsyncIterable<Buffer>,
  ): Promise<AsyncIterable<Buffer> | undefined> {
    const chunks = content[Symbol.asyncIterator]();
    let at = 0;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      if (!(await this.#holdsAt(file, next.value, at))) return whole(file, { at, chunk: next.value, chunks });
      at += next.value.length;
    }
    file.assertUnchanged();
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cursor[Symbol.asyncDispose]();
  }

  async #holdsAt(file: SourceFile, chunk: Buffer, from: number): Promise<boolean> {
    for (let at = 0; at < chunk.length; ) {
      const wanted = this.#memory.subarray(0, chunk.length - at);
      const count = await read(file, wanted, from + at);
      if (count === 0 || chunk.compare(wanted, 0, count, at, at + count) !== 0) return false;
      at += count;
    }
    return true;
  }

  #looksLike({ size, mode, mtimeMs }: TarEntry, { stats }: SourceFile): boolean {
    return (
      stats.size === size &&
      (stats.mode & 0o7777) === mode &&
      Math.floor(stats.mtimeMs) === mtimeMs &&
      // Whoever writes to another name of it would write into the new world.
      stats.nlink === 1
    );
  }
}

/** A file that cannot be read is another one. */
async function read(file: SourceFile, wanted: Buffer, at: number): Promise<number> {
  try {
    return await file.read(wanted, at);
  } catch {
    return 0;
  }
}

type Rest = { at: number; chunk: Buffer; chunks: AsyncIterator<Buffer> };

/** The content again: what was the same out of the file, and what came after it. */
async function* whole(file: SourceFile, { at, chunk, chunks }: Rest): AsyncGenerator<Buffer> {
  for (let have = 0; have < at; ) {
    const part = Buffer.allocUnsafe(Math.min(chunkBytes, at - have));
    const count = await read(file, part, have);
    if (count === 0) throw new OldWorldUnreadable("a file of the old world cannot be read again");
    have += count;
    yield part.subarray(0, count);
  }
  if (!file.isUnchanged) throw new OldWorldUnreadable("a file of the old world cannot be read again");
  yield chunk;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}
