// Finds the data of a sparse file. Node has no SEEK_HOLE; GNU tar, part of every Debian, has it and writes the extents at
// the start of an entry, before any data. The rest of its output is not read.

import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type Extent, lengthOf, mayHaveHoles } from "../path/extents.ts";
import type { SourceFile } from "../path/source-file.ts";
import { readTar } from "./tar-reader.ts";

/** Smaller holes are read as zeros. */
const smallestHoleBytes = 64 << 10;
const lookMs = 30_000;
const blockBytes = 4_096;

/**
 * The extents of a file in order; undefined when all of it is data, or so much that looking for holes is not worth it.
 * `unknown` where they can't be found. Recent writes must be synced first: some file systems count no blocks until then.
 */
export async function findExtents(file: SourceFile): Promise<Extent[] | "unknown" | undefined> {
  const { size } = file.stats;
  if (!mayHaveHoles(file.stats)) return undefined;
  const found = await askTar(file.fd, size);
  return found !== "unknown" && lengthOf(found) === size ? undefined : found;
}

async function askTar(fd: number, size: number): Promise<Extent[] | "unknown"> {
  const args = ["--create", "--file=-", "--format=pax", "--sparse", "--sparse-version=1.0"];
  const child = spawn(
    "tar",
    [...args, "--hole-detection=seek", "--dereference", "--directory=/proc/self/fd", "3"],
    {
      stdio: ["ignore", "pipe", "ignore", fd],
      env: { LC_ALL: "C", PATH: "/usr/bin:/bin" },
    },
  );
  const ended = new Promise<void>((resolve) =>
    child.once("close", () => resolve()).once("error", () => resolve()),
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), lookMs);
  try {
    for await (const entry of readTar(child.stdout as Readable, { isPart: true })) {
      if (entry.size !== size) return "unknown";
      return joined(entry.extents ?? [{ at: 0, length: size }], size);
    }
    return "unknown";
  } catch {
    return "unknown";
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
    (child.stdout as Readable).destroy();
    await ended;
  }
}

/** Whole blocks, as every reader of such entries takes them, without the smallest holes. */
function joined(found: readonly Extent[], size: number): Extent[] {
  const extents: Extent[] = [];
  for (const { at, length } of found) {
    if (length === 0) continue;
    const start = Math.floor(at / blockBytes) * blockBytes;
    const end = Math.min(size, Math.ceil((at + length) / blockBytes) * blockBytes);
    const last = extents.at(-1);
    if (last && start - (last.at + last.length) < smallestHoleBytes)
      last.length = Math.max(last.length, end - last.at);
    else extents.push({ at: start, length: end - start });
  }
  return extents;
}
