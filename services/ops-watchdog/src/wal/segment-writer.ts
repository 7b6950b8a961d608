// Writes the log as it comes into segments of 16 MiB. What is on the disk already is compared and never written over with
// other bytes: after a restart the server sends the open segment again from its beginning.

import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { syncPath, writeDurably } from "../bundle/durable.ts";
import { nextSegment, segmentBytes, segmentName, segmentStart } from "./lsn.ts";

/** The server sends another log than the one that was received: it was set back to an older state. */
export class DivergedError extends Error {
  override name = "DivergedError";
}

type Open = { name: string; start: bigint; file: FileHandle; there: number; hash: Hash };

type SegmentWriter = {
  write: (at: bigint, bytes: Buffer) => Promise<void>;
  /** Everything that was written is on the disk when it returns: the position of its end. */
  flush: () => Promise<bigint>;
  close: () => Promise<void>;
};

export function createSegmentWriter(about: {
  /** The folder of segments. */
  dir: string;
  timeline: number;
  /** The beginning of a segment. */
  from: bigint;
  step: (name: string) => void;
}): SegmentWriter {
  const { dir, timeline, step } = about;
  let position = about.from;
  let current: Open | undefined;
  let isDirty = false;

  const openSegment = async (): Promise<Open> => {
    const name = segmentName(timeline, position);
    const path = join(dir, `${name}.partial`);
    const file = await open(path, "r+").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return open(path, "wx+", 0o600);
    });
    const { size: there } = await file.stat();
    return { name, start: segmentStart(position), file, there, hash: createHash("sha256") };
  };

  const finish = async (segment: Open) => {
    await segment.file.sync();
    await segment.file.close();
    current = undefined;
    step("segment-digest");
    const path = join(dir, segment.name);
    await writeDurably(`${path}.sha256`, `${segment.hash.digest("hex")}  ${segment.name}\n`);
    step("segment-name");
    await rename(`${path}.partial`, path);
    await syncPath(dir);
    isDirty = false;
  };

  const writePart = async (segment: Open, bytes: Buffer) => {
    const offset = Number(position - segment.start);
    const known = Math.max(0, Math.min(bytes.length, segment.there - offset));
    if (known > 0) await compare(segment, offset, bytes.subarray(0, known));
    const fresh = bytes.subarray(known);
    for (let done = 0; done < fresh.length; ) {
      const at = offset + known + done;
      done += (await segment.file.write(fresh, done, fresh.length - done, at)).bytesWritten;
    }
    segment.hash.update(bytes);
    isDirty = true;
    position += BigInt(bytes.length);
  };

  return {
    write: async (at, bytes) => {
      if (at !== position) throw new Error("the server left out a part of its log");
      for (let done = 0; done < bytes.length; ) {
        const room = Number(nextSegment(position) - position);
        const part = bytes.subarray(done, done + room);
        current ??= await openSegment();
        await writePart(current, part);
        done += part.length;
        if (Number(position - current.start) === segmentBytes) await finish(current);
      }
    },
    flush: async () => {
      if (isDirty) await current?.file.sync();
      isDirty = false;
      return position;
    },
    close: async () => {
      await current?.file.close();
      current = undefined;
    },
  };
}

async function compare({ file, name }: Open, offset: number, bytes: Buffer): Promise<void> {
  const there = Buffer.alloc(bytes.length);
  const { bytesRead } = await file.read(there, 0, bytes.length, offset);
  if (bytesRead !== bytes.length || !there.equals(bytes))
    throw new DivergedError(`the server sends another ${name} than the one that is in the archive`);
}
