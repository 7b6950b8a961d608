// Writes the entries of an archive into an empty folder.

import type { FileHandle } from "node:fs/promises";
import { roomOf, type TarEntry } from "../archive/tar-header.ts";
import { Tree, type TreeNode } from "../archive/tree.ts";
import { releaseBuffer, retainBuffer } from "../buffer-release.ts";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import { type Extent, placed } from "../path/extents.ts";
import { type Attributes, type Folder, setAttributesSync } from "../path/folder.ts";
import { FolderStack } from "../path/folder-stack.ts";
import type { OldFile } from "./old-world.ts";
import { BackgroundFlush, defaultFlushing, type Flushing, WritePipeline } from "./write-pipeline.ts";

const smallBytes = 256 << 10;
/** Concurrent writes; each keeps one frame of the archive in memory. */
const chunksAhead = 3;
/** Files that finish in the background while the next ones begin. */
const filesAhead = 4;

type Owner = { uid: number; gid: number };

/** `extents` of a file with holes, whose content is their data. */
type NewFile = TarEntry & { extents?: Extent[] | undefined };
type Look = Pick<TarEntry, "mode" | "mtimeMs">;

export class TreeWriter implements AsyncDisposable {
  readonly #cursor: Cursor;
  readonly #owner: Owner;
  readonly #target: Folder;
  readonly #folders = new Tree();
  readonly #looks = new Map<TreeNode, Look>();
  readonly #writes = new WritePipeline(chunksAhead);
  readonly #ends = new WritePipeline(filesAhead);
  readonly #flush: BackgroundFlush;

  /** New files and folders are given to `owner`, if that is not us. */
  constructor(target: Folder, owner: Owner, flushing: Flushing = defaultFlushing) {
    this.#target = target;
    this.#cursor = new Cursor(target);
    this.#owner = owner;
    this.#flush = new BackgroundFlush(target, flushing);
  }

  /** Creates a folder; `finish` sets its mode and time. */
  async folder(entry: Look & { path: string }): Promise<void> {
    await this.#cursor.at(entry.path, { make: true });
    const { mode, mtimeMs } = entry;
    this.#looks.set(this.#folders.add({ path: entry.path, kind: "folder" }), { mode, mtimeMs });
  }

  /**
   * Writes a file whose name must be free. Its chunks must not be modified afterwards; it is complete after `finish`.
   */
  async file(entry: NewFile, content: AsyncIterable<Buffer>): Promise<void> {
    const { folder: outer, name } = splitPath(entry.path);
    const folder = await this.#cursor.at(outer, { make: true });
    const look = { mode: entry.mode, atSeconds: secondsOf(entry.mtimeMs), owner: this.#owner };
    const { size, extents } = entry;
    this.#flush.count(roomOf(entry));
    if (size <= smallBytes && !extents)
      return await collected(entry, content, (whole) => folder.putFile(name, whole, look));
    const file = await folder.createFile(name, 0o600);
    const own: Promise<void>[] = [];
    try {
      // Ranges that are never written stay holes.
      if (extents) await file.truncate(size);
      let written = 0;
      for await (const { at, chunk } of placed(content, extents)) {
        const write = writeHeld(file, chunk, at);
        this.#writes.start(write);
        own.push(write);
        written += chunk.length;
        await this.#writes.room();
      }
      assertWhole(entry, written);
    } catch (error) {
      await Promise.allSettled(own);
      await file.close();
      throw error;
    }
    this.#ends.start(endFile(file, { own, look }));
    await this.#ends.room();
  }

  /** Hard-links a file of the same volume under a free name. False where that is impossible. */
  async alias({ path }: TarEntry, { folder, name, file }: OldFile): Promise<boolean> {
    const second = splitPath(path);
    const target = await this.#cursor.at(second.folder, { make: true });
    return folder.alias(name, { folder: target, name: second.name, expected: file.stats });
  }

  /** Waits for all writes and sets modes and times of folders, the inner ones first. */
  async finish(): Promise<void> {
    await this.#ends.finish();
    await this.#flush.finish();
    await this.#dressFolders();
  }

  /** Children first: writing into a folder changes its time, and its mode may lock us out. */
  async #dressFolders(): Promise<void> {
    await using stack = new FolderStack(this.#target);
    const way = [{ node: this.#folders.root, left: foldersIn(this.#folders.root) }];
    for (let level = way.at(-1); level; level = way.at(-1)) {
      const next = level.left.pop();
      if (next) {
        await stack.enter(next.name);
        way.push({ node: next.node, left: foldersIn(next.node) });
        continue;
      }
      way.pop();
      if (way.length === 0) return;
      const look = this.#looks.get(level.node);
      await stack.leave(async (folder) => {
        if (look)
          await folder.dress({ mode: look.mode, atSeconds: secondsOf(look.mtimeMs), owner: this.#owner });
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.settle();
    await this.#flush.settle();
    await this.#cursor[Symbol.asyncDispose]();
  }
}

function foldersIn({ below }: TreeNode): { name: string; node: TreeNode }[] {
  return [...(below ?? [])].map(([name, node]) => ({ name, node }));
}

type FileEnd = { own: Promise<void>[]; look: Attributes };

async function endFile(file: FileHandle, { own, look }: FileEnd): Promise<void> {
  try {
    await Promise.all(own);
    setAttributesSync(file.fd, look);
  } finally {
    await Promise.allSettled(own);
    await file.close();
  }
}

/** Retains the whole content of a small file while `put` writes it. */
async function collected(
  entry: TarEntry,
  content: AsyncIterable<Buffer>,
  put: (whole: Buffer) => void,
): Promise<void> {
  const parts: Buffer[] = [];
  try {
    for await (const chunk of content) {
      retainBuffer(chunk);
      parts.push(chunk);
    }
    const whole = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    assertWhole(entry, whole.length);
    put(whole);
  } finally {
    for (const part of parts) releaseBuffer(part);
  }
}

function assertWhole(entry: TarEntry, length: number): void {
  const { path } = entry;
  if (length !== roomOf(entry)) throw new Error(`${path} does not have the length of its header`);
}

/** Retains the chunk while the kernel reads from it. */
async function writeHeld(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  retainBuffer(chunk);
  try {
    await writeAt(file, chunk, position);
  } finally {
    releaseBuffer(chunk);
  }
}

/** Writes at an offset, so that several writes may run at once. */
async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

/** Node truncates times to microseconds; a fraction more keeps the millisecond. */
export function secondsOf(ms: number): number {
  return ms / 1_000 + 2e-7;
}
