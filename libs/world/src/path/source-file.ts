// A file that is read from start to end, among hundreds of thousands. A small one is read synchronously: open, stat, read
// and close together take less time than a turn of the thread pool for each.

import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { WorldFault } from "../fault.ts";
import { explain, type Folder } from "./folder.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const readLater = promisify(read);
const smallBytes = 256 << 10;
const chunkBytes = 1 << 20;

export class SourceFile implements AsyncDisposable {
  /** Its stats when it was opened. */
  readonly stats: Stats;
  readonly #fd: number;
  readonly #shownPath: string;
  #reading: Promise<unknown> = Promise.resolve();

  private constructor(fd: number, { stats, shownPath }: { stats: Stats; shownPath: string }) {
    this.#fd = fd;
    this.#shownPath = shownPath;
    this.stats = stats;
  }

  /**
   * Opens a regular file; `shownPath` is how failures name it. Throws `not_found`, or `bad_path` for a link, a folder or a
   * device.
   */
  static open(folder: Folder, name: string, shownPath: string = name): SourceFile {
    try {
      // Without O_NONBLOCK the open of a named pipe would wait for its writer.
      const fd = openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const stats = fstatSync(fd);
        if (!stats.isFile()) throw new WorldFault("bad_path", `${name} is not a regular file.`);
        return new SourceFile(fd, { stats, shownPath });
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    } catch (error) {
      throw explain(error, name);
    }
  }

  /** Reads into a buffer from an offset; returns the count, 0 at the end. */
  read(buffer: Buffer, at: number): number | Promise<number> {
    if (this.isSmall) return readSync(this.#fd, buffer, 0, buffer.length, at);
    const reading = readLater(this.#fd, buffer, 0, buffer.length, at).then(({ bytesRead }) => bytesRead);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** The whole file in chunks. Throws when it changes meanwhile. */
  async *content(): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.stats.size; ) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, this.stats.size - at));
      const count = await this.read(chunk, at);
      if (count === 0) throw new Error(`${this.#shownPath} became shorter while it was read`);
      at += count;
      yield chunk.subarray(0, count);
    }
    this.assertUnchanged();
  }

  /** For calls that need the descriptor. */
  get fd(): number {
    return this.#fd;
  }

  /** Whether length and time are unchanged since it was opened. */
  get isUnchanged(): boolean {
    const { size, mtimeMs } = fstatSync(this.#fd);
    return size === this.stats.size && mtimeMs === this.stats.mtimeMs;
  }

  /** Throws when length or time has changed since it was opened. */
  assertUnchanged(): void {
    if (!this.isUnchanged) throw new Error(`${this.#shownPath} changed while it was read`);
  }

  /** The whole file, at the length it had when opened. Throws when it has become shorter. */
  async readAll(): Promise<Buffer> {
    const whole = Buffer.alloc(this.stats.size);
    for (let at = 0; at < whole.length; ) {
      const count = await this.read(whole.subarray(at), at);
      if (count === 0) throw new Error(`${this.#shownPath} became shorter while it was read`);
      at += count;
    }
    return whole;
  }

  get isSmall(): boolean {
    return this.stats.size <= smallBytes;
  }

  /** Waits for a running read: after the close its descriptor may belong to another file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading;
    closeSync(this.#fd);
  }
}
