// A folder of a volume whose content nobody trusts: everything in it is reached from the open folder itself, never by a
// path, and no link is followed. Node has no openat; `/proc/self/fd/N/name` with O_NOFOLLOW is the same.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { partialNameOf } from "@svc/world";

export type Folder = {
  fd: number;
  /** Path of an entry, for calls that do not follow a link at its end. */
  at: (name: string | Buffer) => Buffer;
  close: () => void;
};

const directory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// O_NONBLOCK: a named pipe must not hold us up.
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const making = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Opens a folder by its path, or one inside another folder; a link is refused (ENOTDIR, ELOOP). */
export function openFolder(path: string | Buffer): Folder {
  const fd = openSync(path, directory);
  const head = Buffer.from(`/proc/self/fd/${fd}/`);
  return {
    fd,
    at: (name) => Buffer.concat([head, typeof name === "string" ? Buffer.from(name) : name]),
    close: () => closeSync(fd),
  };
}

type Read = { kind: "missing" } | { kind: "other" } | { kind: "file"; text: string; mode: number };

/** Content of a plain file, byte for byte as latin1; `other` for whatever is not a plain file or is larger than `highest`. */
export function readPlain(folder: Folder, name: string, highest: number): Read {
  let fd: number;
  try {
    fd = openSync(folder.at(name), reading);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { kind: "missing" };
    if (code === "ELOOP" || code === "ENXIO") return { kind: "other" };
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > highest) return { kind: "other" };
    return { kind: "file", text: readFileSync(fd, "latin1"), mode: stat.mode & 0o777 };
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file as a whole, and a link instead of what it points to; whoever reads it sees the old or the new one. */
export function replacePlain(folder: Folder, name: string, content: { text: string; mode: number }): void {
  const partial = folder.at(partialNameOf(name));
  rmSync(partial, { force: true });
  const fd = openSync(partial, making, content.mode);
  try {
    writeFileSync(fd, content.text, "latin1");
    fchmodSync(fd, content.mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(partial, folder.at(name));
  fsyncSync(folder.fd);
}
