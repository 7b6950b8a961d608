// A file that is read from its start to its end, for whoever reads hundreds of thousands of them. A small one is read at
// once: opening, looking, reading and closing take less time than five turns of the thread pool do.

import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { WorldFault } from "../fault.ts";
import { explain, type Folder } from "./folder.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const readLater = promisify(read);
const smallBytes = 256 << 10;

export class SourceFile implements AsyncDisposable {
  /** What it was when it was opened. */
  readonly stats: Stats;
  readonly #fd: number;
  #reading: Promise<unknown> = Promise.resolve();

  private constructor(fd: number, stats: Stats) {
    this.#fd = fd;
    this.stats = stats;
  }

  /** Opens a regular file. Throws `not_found`, or `bad_path` for a link, a folder or a device. */
  static open(folder: Folder, name: string): SourceFile {
    try {
      // Without O_NONBLOCK the open of a named pipe would wait for its writer.
      const fd = openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const stats = fstatSync(fd);
        if (!stats.isFile()) throw new WorldFault("bad_path", `${name} is not a regular file.`);
        return new SourceFile(fd, stats);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    } catch (error) {
      throw explain(error, name);
    }
  }

  /** What it is now. */
  stat(): Stats {
    return fstatSync(this.#fd);
  }

  /** Fills a buffer from a place on, as far as there is something; gives the count, 0 at the end. */
  read(buffer: Buffer, at: number): number | Promise<number> {
    if (this.stats.size <= smallBytes) return readSync(this.#fd, buffer, 0, buffer.length, at);
    const reading = readLater(this.#fd, buffer, 0, buffer.length, at).then(({ bytesRead }) => bytesRead);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** All of it, as long as it was when it was opened. Throws when it has become shorter. */
  async readWhole(): Promise<Buffer> {
    const whole = Buffer.alloc(this.stats.size);
    for (let at = 0; at < whole.length; ) {
      const count = await this.read(whole.subarray(at), at);
      if (count === 0) throw new Error("the file became shorter while it was read");
      at += count;
    }
    return whole;
  }

  /** Its number may be another file's as soon as it is closed, so a read that runs is waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading;
    closeSync(this.#fd);
  }
}
