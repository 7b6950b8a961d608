// The log of one run: `log` holds the raw output, `log.1` the rotated part, `times` when which bytes were written.
// Positions are counted from the first byte ever written, so they stay true across a rotation. A line of `times` is
// `<end> <milliseconds>`: the bytes up to `end` existed at that time. `base` holds `<position> <old position>`:
// where `log` and `log.1` start.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";

type LogTime = { end: number; atMs: number };
type LogBase = { base: number; oldBase: number };
/** `end` is how far the log is known, `open` is false once the container has ended. */
export type LogExtent = { end: number; open: boolean };

export function readBase(dir: string): LogBase {
  try {
    const [base = 0, oldBase = 0] = readFileSync(join(dir, "base"), "utf8").trim().split(" ").map(Number);
    return { base, oldBase };
  } catch {
    // Written by the first rotation.
    return { base: 0, oldBase: 0 };
  }
}

type LogTimes = {
  /** All entries, oldest first; reads only new ones since the last call. */
  read(): LogTime[];
};

export function openTimes(dir: string): LogTimes {
  let known = { inode: 0, offset: 0, times: [] as LogTime[] };
  const refresh = (file: number) => {
    const { ino, size } = fstatSync(file);
    if (ino !== known.inode) known = { inode: ino, offset: 0, times: [] };
    const bytes = Buffer.alloc(Math.max(size - known.offset, 0));
    const length = readSync(file, bytes, 0, bytes.length, known.offset);
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a, Math.max(length - 1, 0)) + 1);
    known.offset += whole.length;
    for (const line of whole.toString("latin1").split("\n").slice(0, -1)) {
      const [end, atMs] = line.split(" ");
      known.times.push({ end: Number(end), atMs: Number(atMs) });
    }
  };
  return {
    read: () => {
      let file: number | undefined;
      try {
        file = openSync(join(dir, "times"), "r");
        refresh(file);
      } catch {
        // A run that wrote nothing yet has no times.
      } finally {
        if (file !== undefined) closeSync(file);
      }
      return known.times;
    },
  };
}

export async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function readPart(file: string, from: number, length: number): Promise<Buffer> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Bytes from `position` on, at most `length`; empty when they are not there (any more). */
export async function readLog(dir: string, position: number, length: number): Promise<Buffer> {
  for (;;) {
    const { base, oldBase } = readBase(dir);
    const old = position < base;
    const bytes = old
      ? await readPart(join(dir, "log.1"), position - oldBase, Math.min(length, base - position))
      : await readPart(join(dir, "log"), position - base, length);
    // Rotated during the read: the bytes may be from another position.
    if (readBase(dir).base === base) return bytes;
  }
}

const MAX_NANOSECONDS = 19_999_999n;

/**
 * The time of the line that starts at `position`, in nanoseconds. Lines of the same check differ by their distance,
 * so that times never repeat and never run backwards.
 */
export function timeOf(times: LogTime[], position: number): bigint {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle]?.end ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  const start = low === 0 ? 0 : (times[low - 1]?.end ?? 0);
  const distance = BigInt(Math.max(position - start, 0));
  return (
    BigInt(times[low]?.atMs ?? 0) * 1_000_000n + (distance < MAX_NANOSECONDS ? distance : MAX_NANOSECONDS)
  );
}

export function formatTime(nanoseconds: bigint): string {
  const seconds = new Date(Number(nanoseconds / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${(nanoseconds % 1_000_000_000n).toString().padStart(9, "0")}Z`;
}
