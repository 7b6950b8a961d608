// A file that is read from its start to its end, for whoever reads hundreds of thousands of them. A small one is read at
// once: opening, looking, reading and closing take less time than five turns of the thread pool do.

import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { WorldFault } from "../fault.ts";
import { explain, type Folder } from "./folder.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const readLater = promisify(read);
const smallBytes = 256 << 10;
const chunkBytes = 1 << 20;

export class SourceFile implements AsyncDisposable {
  /** What it was when it was opened. */
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

  /** Fills a buffer from a place on, as far as there is something; gives the count, 0 at the end. */
  read(buffer: Buffer, at: number): number | Promise<number> {
    if (this.isSmall) return readSync(this.#fd, buffer, 0, buffer.length, at);
    const reading = readLater(this.#fd, buffer, 0, buffer.length, at).then(({ bytesRead }) => bytesRead);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** All of it in chunks. Throws when it changes meanwhile. */
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

  /** For whoever asks the file system about it. */
  get fd(): number {
    return this.#fd;
  }

  /** Whether its length and its time are what they were when it was opened. */
  get isUnchanged(): boolean {
    const { size, mtimeMs } = fstatSync(this.#fd);
    return size === this.stats.size && mtimeMs === this.stats.mtimeMs;
  }

  /** Throws when its length or its time is another than when it was opened. */
  assertUnchanged(): void {
    if (!this.isUnchanged) throw new Error(`${this.#shownPath} changed while it was read`);
  }

  /** All of it, as long as it was when it was opened. Throws when it has become shorter. */
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

  /** Its number may be another file's as soon as it is closed, so a read that runs is waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading;
    closeSync(this.#fd);
  }
}
