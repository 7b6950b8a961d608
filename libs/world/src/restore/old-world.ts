// Files of the old world that the archive holds too. The new tree hard-links them instead of copying, which saves the
// writes and, on a volume that is too small for two worlds, the space (ADR 0011).

import type { TarEntry } from "../archive/tar-header.ts";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import type { Folder } from "../path/folder.ts";
import { SourceFile } from "../path/source-file.ts";

const chunkBytes = 1 << 20;

/** A file of the old world could not be read a second time. The restore starts again without the old world. */
export class OldWorldUnreadable extends Error {
  override name = "OldWorldUnreadable";
}

/** A file of the old world with the size, mode and time of an entry. */
export type OldFile = { folder: Folder; name: string; file: SourceFile };

export class OldWorld implements AsyncDisposable {
  readonly #cursor: Cursor;
  /** Shared by all files: allocating costs more than reading. */
  readonly #memory = Buffer.allocUnsafeSlow(chunkBytes);
  /** Prefix of all paths in a missing folder. */
  #absent: string | undefined;

  constructor(root: Folder) {
    this.#cursor = new Cursor(root);
  }

  /**
   * Opens the file at the path of an entry if it has the size, mode and time of the entry and no other hard link. A file
   * that can't be opened counts as missing. Valid until the next call.
   */
  async open(entry: TarEntry): Promise<OldFile | undefined> {
    // The archive holds only its data, so it can't be compared with a plain read of the old file.
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

  /** Bytes of files that need no space of their own, judged by their stats. */
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
   * Compares content with a file. Returns nothing when they are equal, otherwise the whole content, including what was
   * already consumed; reading that may throw `OldWorldUnreadable`. One call at a time.
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
      // A write through another hard link would change the new world.
      stats.nlink === 1
    );
  }
}

/** An unreadable file counts as different. */
async function read(file: SourceFile, wanted: Buffer, at: number): Promise<number> {
  try {
    return await file.read(wanted, at);
  } catch {
    return 0;
  }
}

type Rest = { at: number; chunk: Buffer; chunks: AsyncIterator<Buffer> };

/** The content again: the equal part from the file, then the rest. */
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
