// Folders held open by a handle, and everything done inside them by name. Node has no openat: `/proc/self/fd/N/name`
// is the same to the kernel, for N is the folder itself wherever it was moved meanwhile. The last name is never
// followed when it is a link, so nothing that is swapped in during an operation can lead out of the world.

import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  futimesSync,
  linkSync,
  lstatSync,
  open as openCallback,
  openSync,
  readdirSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { type FileHandle, link, lstat, mkdir, open, rename, rmdir, statfs, unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { errnoOf, WorldFault } from "../fault.ts";
import { decodeName, encodeName, isRawName, whyNoEntry } from "./name.ts";

const openLater = promisify(openCallback);
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Device and inode identify a file under any name. */
export type Identity = { dev: number; ino: number };

export function isSameFile(one: Identity, other: Identity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** One entry of a folder; `other` is a link, a device, a pipe or a socket. */
export type FolderEntry = { name: string; kind: "file" | "folder" | "other" };

/** Mode, time and owner of a file or folder. */
export type Attributes = {
  mode: number;
  atSeconds?: number | undefined;
  owner?: Owner | undefined;
};

/** One open folder. Close it, or declare it with `await using`. Takes single names; `bad_path` for anything else. */
export class Folder implements AsyncDisposable {
  /**
   * Folders are opened, listed and closed synchronously: a turn of the thread pool takes longer than each step, and worlds
   * have many thousands of folders.
   */
  readonly #fd: number;
  #isClosed = false;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Opens the root of a world: the one path that is not checked. */
  static async openRoot(path: string): Promise<Folder> {
    return new Folder(await openLater(path, O_RDONLY | O_DIRECTORY));
  }

  /** Opens the folder below by names, one after the other. Throws `not_found`, or `bad_path` at a link or a file. */
  async descend(names: readonly string[]): Promise<Folder> {
    let current = await this.duplicate();
    for (const name of names) {
      const outer = current;
      try {
        current = await outer.enter(name);
      } finally {
        await outer.close();
      }
    }
    return current;
  }

  /** Opens one folder in this one; one of our own that we shut ourselves is opened for us first. */
  async enter(name: string): Promise<Folder> {
    const enter = () => new Folder(openSync(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    try {
      return enter();
    } catch (error) {
      if (errnoOf(error) !== "EACCES" || !this.#unlock(name)) throw explain(error, name);
      return enter();
    }
  }

  /** Opens the parent folder. Throws when it is not the expected one: this folder was moved. */
  async outer(expected: Identity): Promise<Folder> {
    const outer = new Folder(openSync(`${this.path}/..`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    try {
      if (isSameFile(await outer.stat(), expected)) return outer;
    } catch (error) {
      await outer.close();
      throw error;
    }
    await outer.close();
    throw new Error("a folder was moved during the operation");
  }

  /** Another handle of the same folder. */
  async duplicate(): Promise<Folder> {
    return new Folder(openSync(this.path, O_RDONLY | O_DIRECTORY));
  }

  /** A path to this folder while it is open, for calls that take no handle. */
  get path(): string {
    return `/proc/self/fd/${this.#fd}`;
  }

  /** The path of a name in this folder; checks the name, not what it refers to. */
  at(name: string): string | Buffer {
    const reason = whyNoEntry(name);
    if (reason) throw new WorldFault("bad_path", `The path is rejected: ${reason}.`);
    if (!isRawName(name)) return `${this.path}/${name}`;
    return Buffer.concat([Buffer.from(`${this.path}/`), encodeName(name)]);
  }

  /** The stats of a name, links not followed; undefined when it does not exist. */
  async find(name: string): Promise<Stats | undefined> {
    return lstat(this.at(name)).catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    });
  }

  async stat(): Promise<Stats> {
    return fstatSync(this.#fd);
  }

  /** All names in this folder, sorted, hidden ones too. */
  async list(): Promise<FolderEntry[]> {
    const entries = readdirSync(this.path, { withFileTypes: true, encoding: "buffer" });
    return entries
      .map((entry): FolderEntry => {
        const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
        return { name: decodeName(entry.name), kind };
      })
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Opens a regular file to read. Throws `not_found`, or `bad_path` for a link, a folder or a device. */
  async openFile(name: string): Promise<FileHandle> {
    // Without O_NONBLOCK the open of a named pipe would wait for its writer.
    const handle = await open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
      throw explain(error, name);
    });
    try {
      if (!(await handle.stat()).isFile()) throw new WorldFault("bad_path", `${name} is not a regular file.`);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Makes a new file to write. Throws `file_exists`. */
  async createFile(name: string, mode = 0o644): Promise<FileHandle> {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    return this.#change(name, () => open(this.at(name), flags, mode));
  }

  /**
   * Writes a small new file synchronously: a turn of the thread pool for each of its five steps takes longer, and worlds
   * and mod packs have hundreds of thousands of them. Throws `file_exists`.
   */
  putFile(name: string, content: Buffer, look: Attributes): void {
    try {
      const make = () => openSync(this.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      let fd: number;
      try {
        fd = make();
      } catch (error) {
        if (errnoOf(error) !== "EACCES" || !unlock(this.#fd)) throw error;
        fd = make();
      }
      try {
        for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
        setAttributesSync(fd, look);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw explain(error, name);
    }
  }

  /**
   * Creates a hard link to a file of this folder; the new name must be free. False where the file system has no hard links,
   * and when the name refers to a different file by now.
   */
  alias(name: string, second: { folder: Folder; name: string; expected: Identity }): boolean {
    const path = second.folder.at(second.name);
    try {
      linkSync(this.at(name), path);
    } catch {
      return false;
    }
    if (isSameFile(lstatSync(path), second.expected)) return true;
    unlinkSync(path);
    return false;
  }

  async makeFolder(name: string, mode = 0o755): Promise<void> {
    await this.#change(name, () => mkdir(this.at(name), { mode }));
  }

  /** Moves a name here or into another folder, over what is there. */
  async move(name: string, to: { folder?: Folder; name: string }): Promise<void> {
    const target = to.folder ?? this;
    let shut: Stats | undefined;
    const move = () => rename(this.at(name), target.at(to.name));
    await move().catch(async (error: unknown) => {
      const isDenied = errnoOf(error) === "EACCES";
      // A folder that goes to another one is written to as well.
      if (isDenied) shut = this.#unlock(name);
      const isUnlocked = isDenied && [this, target].map((one) => unlock(one.#fd)).includes(true);
      if (!shut && !isUnlocked) throw explain(error, name);
      await move().catch((second: unknown) => {
        throw explain(second, name);
      });
    });
    if (shut) chmodSync(target.at(to.name), shut.mode & 0o7777);
  }

  /** As `move`, but never replaces anything: `file_exists` even if the target was created a moment ago. */
  async moveToFree(name: string, to: { folder?: Folder; name: string }): Promise<void> {
    const target = to.folder ?? this;
    const stats = await this.find(name);
    if (!stats) throw new WorldFault("not_found", `${name} does not exist.`);
    if (!stats.isFile() && !stats.isDirectory()) {
      // We may not have the right to hard-link a symbolic link or a pipe.
      if (await target.find(to.name)) throw new WorldFault("file_exists", `${to.name} already exists.`);
      return await this.move(name, to);
    }
    if (stats.isDirectory()) {
      // An empty folder reserves the name: a folder can be renamed only over an empty one.
      await target.makeFolder(to.name);
      await this.move(name, to).catch(async (error: unknown) => {
        await rmdir(target.at(to.name)).catch(() => undefined);
        throw error;
      });
      return;
    }
    await link(this.at(name), target.at(to.name)).catch((error: unknown) => {
      throw explain(error, to.name);
    });
    await unlink(this.at(name));
  }

  async removeFile(name: string): Promise<void> {
    await this.#change(name, () => unlink(this.at(name)));
  }

  async removeEmpty(name: string): Promise<void> {
    await this.#change(name, () => rmdir(this.at(name)));
  }

  /** Free bytes for an unprivileged user; undefined when the file system does not report them. */
  async freeBytes(): Promise<number | undefined> {
    const known = await statfs(this.path).catch(() => undefined);
    return known && known.bavail * known.bsize;
  }

  /** Sets mode, time and, if given, the owner of this folder. */
  async dress(look: Attributes): Promise<void> {
    setAttributesSync(this.#fd, look);
  }

  /** Makes created, moved and removed names durable. */
  async sync(): Promise<void> {
    await new Promise<void>((resolve, reject) =>
      fsync(this.#fd, (error) => (error ? reject(error) : resolve())),
    );
  }

  /** Makes, moves or removes a name; in a folder of our own that we shut ourselves, too. */
  async #change<T>(name: string, act: () => Promise<T>): Promise<T> {
    return act().catch(async (error: unknown) => {
      if (errnoOf(error) !== "EACCES" || !unlock(this.#fd)) throw explain(error, name);
      return act();
    });
  }

  /** As the function `unlock`, for a folder by its name; its stats from before when it did. */
  #unlock(name: string): Stats | undefined {
    try {
      const stats = lstatSync(this.at(name));
      if (!stats.isDirectory() || !isShutByUs(stats)) return undefined;
      chmodSync(this.at(name), (stats.mode & 0o7777) | 0o700);
      return stats;
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    // The descriptor may belong to another file by then.
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A folder that its own user may not use: games unpack such, and only root is not held up. */
const isShutByUs = ({ uid, mode }: Stats) => uid === process.getuid?.() && (mode & 0o700) !== 0o700;

/** Opens a folder for its own user, who is us. False when that is not what is missing, and where nothing may be changed. */
function unlock(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    if (!isShutByUs(stats)) return false;
    fchmodSync(fd, (stats.mode & 0o7777) | 0o700);
    return true;
  } catch {
    return false;
  }
}

/**
 * Mode and time first, the owner last: once the file belongs to somebody else we may no longer change it.
 */
export async function dress(handle: FileHandle, { mode, atSeconds, owner }: Attributes): Promise<void> {
  await handle.chmod(mode);
  if (atSeconds !== undefined) await handle.utimes(atSeconds, atSeconds);
  if (!owner || isOurs(owner)) return;
  await handle.chown(owner.uid, owner.gid).catch((error: unknown) =>
    giveAway(() => {
      throw error;
    }),
  );
}

/** As `dress`, at once. */
export function setAttributesSync(fd: number, { mode, atSeconds, owner }: Attributes): void {
  fchmodSync(fd, mode);
  if (atSeconds !== undefined) futimesSync(fd, atSeconds, atSeconds);
  if (owner && !isOurs(owner)) giveAway(() => fchownSync(fd, owner.uid, owner.gid));
}

type Owner = { uid: number; gid: number };

function isOurs({ uid, gid }: Owner): boolean {
  return uid === process.getuid?.() && gid === process.getgid?.();
}

/** Servers and world Jobs are one user in a cluster; elsewhere only root may change owners. */
function giveAway(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (errnoOf(error) !== "EPERM") throw error;
  }
}

/** Gives a new folder to the owner of its parent. */
export async function setFolderAttributes(outer: Folder, name: string, owner: Owner) {
  await using inner = await outer.enter(name);
  await inner.dress({ mode: 0o755, owner });
}

/** Maps a failed system call to a fault; errors that the caller did not cause are returned unchanged. */
export function explain(error: unknown, name: string): unknown {
  switch (errnoOf(error)) {
    case "ENOENT":
      return new WorldFault("not_found", `${name} does not exist.`);
    case "ELOOP":
      return new WorldFault("bad_path", `${name} is a link; links are not followed.`);
    case "ENOTDIR":
      return new WorldFault("bad_path", `${name} is not a folder.`);
    case "EEXIST":
    case "ENOTEMPTY":
      return new WorldFault("file_exists", `${name} already exists.`);
    case "ENAMETOOLONG":
      return new WorldFault("bad_path", `The path is rejected: ${name} is too long.`);
    case "EINVAL":
      return new WorldFault("bad_path", `${name} cannot be moved into itself.`);
    case "ENXIO":
      return new WorldFault("bad_path", `${name} is not a regular file.`);
    case "ENOSPC":
    case "EDQUOT":
      return new WorldFault("volume_full", "The world volume is full.");
    default:
      return error;
  }
}
