// Writes the entries of an archive into an empty folder.

import type { FileHandle } from "node:fs/promises";
import type { TarEntry } from "../archive/tar-header.ts";
import { hold, letGo } from "../memory.ts";
import { Cursor } from "../path/cursor.ts";
import { type Dress, dressNow, type Folder } from "../path/folder.ts";
import { Ahead, Flush, type Flushing, often } from "./ahead.ts";
import type { OldFile } from "./old-world.ts";

const smallBytes = 256 << 10;
/** Writes under way beside the one that is prepared; each holds one frame of the archive in memory. */
const chunksAhead = 3;
/** Files that are written to their end while the next ones begin. */
const filesAhead = 4;

export type Owner = { uid: number; gid: number };

export class TreeWriter implements AsyncDisposable {
  readonly #cursor: Cursor;
  readonly #owner: Owner;
  readonly #folders: Pick<TarEntry, "path" | "mode" | "mtimeMs">[] = [];
  readonly #writes = new Ahead(chunksAhead);
  readonly #ends = new Ahead(filesAhead);
  readonly #flush: Flush;

  /** New files and folders are given to `owner`, where that is somebody else than we. */
  constructor(target: Folder, owner: Owner, flushing: Flushing = often) {
    this.#cursor = new Cursor(target);
    this.#owner = owner;
    this.#flush = new Flush(target, flushing);
  }

  /** Makes a folder; its mode and time come with `finish`, for writing into it would change them again. */
  async folder(entry: Pick<TarEntry, "path" | "mode" | "mtimeMs">): Promise<void> {
    await this.#cursor.at(entry.path.split("/"), { make: true });
    this.#folders.push(entry);
  }

  /**
   * Takes all of a file whose name must be free. Nobody else may write into its chunks from then on; it is whole after
   * `finish`.
   */
  async file(entry: TarEntry, content: AsyncIterable<Buffer>): Promise<void> {
    const names = entry.path.split("/");
    const name = names.pop() ?? "";
    const folder = await this.#cursor.at(names, { make: true });
    const look = { mode: entry.mode, atSeconds: secondsOf(entry.mtimeMs), owner: this.#owner };
    this.#flush.count(entry.size);
    if (entry.size <= smallBytes)
      return await collected(entry, content, (whole) => folder.putFile(name, whole, look));
    const file = await folder.createFile(name, 0o600);
    const own: Promise<void>[] = [];
    try {
      let at = 0;
      for await (const chunk of content) {
        const write = writeHeld(file, chunk, at);
        this.#writes.start(write);
        own.push(write);
        at += chunk.length;
        await this.#writes.room();
      }
      assertWhole(entry, at);
    } catch (error) {
      await Promise.allSettled(own);
      await file.close();
      throw error;
    }
    this.#ends.start(endFile(file, { own, look }));
    await this.#ends.room();
  }

  /** Gives a file of the same volume a second name here, which must be free. False where that cannot be. */
  async alias({ path }: TarEntry, { folder, name, file }: OldFile): Promise<boolean> {
    const names = path.split("/");
    const second = names.pop() ?? "";
    const target = await this.#cursor.at(names, { make: true });
    return folder.alias(name, { folder: target, name: second, expected: file.stats });
  }

  /** Waits until all is written and gives folders their modes and times, the inner ones first. */
  async finish(): Promise<void> {
    await this.#ends.finish();
    await this.#flush.finish();
    for (const { path, mode, mtimeMs } of this.#folders.reverse()) {
      const folder = await this.#cursor.at(path.split("/"));
      await folder.dress({ mode, atSeconds: secondsOf(mtimeMs), owner: this.#owner });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.settle();
    await this.#flush.settle();
    await this.#cursor[Symbol.asyncDispose]();
  }
}

type Ending = { own: Promise<void>[]; look: Dress };

async function endFile(file: FileHandle, { own, look }: Ending): Promise<void> {
  try {
    await Promise.all(own);
    dressNow(file.fd, look);
  } finally {
    await Promise.allSettled(own);
    await file.close();
  }
}

/** Holds all of a small file while `put` has it. */
async function collected(
  entry: TarEntry,
  content: AsyncIterable<Buffer>,
  put: (whole: Buffer) => void,
): Promise<void> {
  const parts: Buffer[] = [];
  try {
    for await (const chunk of content) {
      hold(chunk);
      parts.push(chunk);
    }
    const whole = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    assertWhole(entry, whole.length);
    put(whole);
  } finally {
    for (const part of parts) letGo(part);
  }
}

function assertWhole({ path, size }: TarEntry, length: number): void {
  if (length !== size) throw new Error(`${path} is not as long as it says`);
}

export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

/** The kernel reads from the chunk until its write has ended. */
async function writeHeld(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  hold(chunk);
  try {
    await writeAt(file, chunk, position);
  } finally {
    letGo(chunk);
  }
}

/** Writes at a place of the file, so that several writes may be under way. */
async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

/** Node cuts times off below a microsecond; a hair more keeps the millisecond. */
export function secondsOf(ms: number): number {
  return ms / 1_000 + 2e-7;
}
