// Writes the entries of an archive into an empty folder.

import type { FileHandle } from "node:fs/promises";
import type { TarEntry } from "../archive/tar-header.ts";
import { Cursor } from "../path/cursor.ts";
import { dress, type Folder } from "../path/folder.ts";

const smallBytes = 256 << 10;

export type Owner = { uid: number; gid: number };

export class TreeWriter implements AsyncDisposable {
  readonly #cursor: Cursor;
  readonly #owner: Owner;
  readonly #folders: Pick<TarEntry, "path" | "mode" | "mtimeMs">[] = [];

  /** New files and folders are given to `owner`, where that is somebody else than we. */
  constructor(target: Folder, owner: Owner) {
    this.#cursor = new Cursor(target);
    this.#owner = owner;
  }

  /** Makes a folder; its mode and time come with `finish`, for writing into it would change them again. */
  async folder(entry: Pick<TarEntry, "path" | "mode" | "mtimeMs">): Promise<void> {
    await this.#cursor.at(entry.path.split("/"), { make: true });
    this.#folders.push(entry);
  }

  /** Writes a file whose name must be free. */
  async file(entry: TarEntry, content: AsyncIterable<Buffer>): Promise<void> {
    const names = entry.path.split("/");
    const name = names.pop() ?? "";
    const folder = await this.#cursor.at(names, { make: true });
    const look = { mode: entry.mode, atSeconds: secondsOf(entry.mtimeMs), owner: this.#owner };
    if (entry.size <= smallBytes) return folder.putFile(name, await collect(entry, content), look);
    await using file = await folder.createFile(name, 0o600);
    let at = 0;
    for await (const chunk of content) {
      await writeAll(file, chunk);
      at += chunk.length;
    }
    assertWhole(entry, at);
    await dress(file, look);
  }

  /** Gives folders their modes and times, the inner ones first. */
  async finish(): Promise<void> {
    for (const { path, mode, mtimeMs } of this.#folders.reverse()) {
      const folder = await this.#cursor.at(path.split("/"));
      await folder.dress({ mode, atSeconds: secondsOf(mtimeMs), owner: this.#owner });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cursor[Symbol.asyncDispose]();
  }
}

async function collect(entry: TarEntry, content: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of content) parts.push(chunk);
  const whole = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  assertWhole(entry, whole.length);
  return whole;
}

function assertWhole({ path, size }: TarEntry, length: number): void {
  if (length !== size) throw new Error(`${path} is not as long as it says`);
}

export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

/** Node cuts times off below a microsecond; a hair more keeps the millisecond. */
export function secondsOf(ms: number): number {
  return ms / 1_000 + 2e-7;
}
