// Data in transfer lies in an unlinked file, so it disappears with the process however that ends.

import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Bytes that may be on the disk, of the process and of one connection. */
export type Room = {
  /** Takes so many more, or throws `SpoolFull`. */
  take: (bytes: number) => void;
  give: (bytes: number) => void;
  used: () => number;
};

export class SpoolFull extends Error {
  override name = "SpoolFull";
  constructor() {
    super("Too much is being transferred at once; wait until something has ended, or send smaller files.");
  }
}

export function createRoom(most: number, within?: Room): Room {
  let used = 0;
  return {
    take: (bytes) => {
      if (used + bytes > most) throw new SpoolFull();
      within?.take(bytes);
      used += bytes;
    },
    give: (bytes) => {
      used -= bytes;
      within?.give(bytes);
    },
    used: () => used,
  };
}

export type Spool = AsyncDisposable & {
  size: () => number;
  read: (offset: number, length: number) => Promise<Buffer>;
  /** Beyond the end the gap is zeros, and counts. */
  write: (offset: number, data: Uint8Array) => Promise<void>;
  truncate: (size: number) => Promise<void>;
};

export async function openSpool({ dir, room }: { dir: string; room: Room }): Promise<Spool> {
  const path = join(dir, `svc-sftp-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return spoolOf(file, room);
}

function spoolOf(file: FileHandle, room: Room): Spool {
  let size = 0;
  let isOpen = true;
  const grow = (to: number) => {
    if (to > size) room.take(to - size);
    else room.give(size - to);
    size = to;
  };
  return {
    size: () => size,
    read: async (offset, length) => {
      const buffer = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
      let at = 0;
      while (at < buffer.length) {
        const { bytesRead } = await file.read(buffer, at, buffer.length - at, offset + at);
        if (bytesRead === 0) throw new Error("a spooled file is shorter than what was written to it");
        at += bytesRead;
      }
      return buffer;
    },
    write: async (offset, data) => {
      if (offset + data.length > size) grow(offset + data.length);
      let at = 0;
      while (at < data.length) {
        const { bytesWritten } = await file.write(data, at, data.length - at, offset + at);
        at += bytesWritten;
      }
      // A gap that was never written is there for reads as well.
      if (data.length === 0) await file.truncate(size);
    },
    truncate: async (to) => {
      grow(to);
      await file.truncate(to);
    },
    [Symbol.asyncDispose]: async () => {
      if (!isOpen) return;
      isOpen = false;
      grow(0);
      await file.close();
    },
  };
}
