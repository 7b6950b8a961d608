// Staged files on the upload volume: one folder for each upload, one file for each of its parts. All replicas share it.
// An incomplete part is not kept: its file is deleted by its writer, or swept.

import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Fault, type uploads } from "@svc/proto";
import { createFileWriter, readAhead } from "@svc/world";
import { untilAborted } from "./until-aborted.ts";

type Part = uploads.StagedPart;

type Incoming = {
  id: string;
  offset: number;
  length: number;
  /** Expected SHA-256 of the bytes, in hex. */
  sha256: string;
  signal: AbortSignal;
};

/** A body of which only the most is known. */
type Collecting = Pick<Incoming, "id" | "offset" | "signal"> & { most: number };

export type Staging = {
  /** Bytes of the volume, and how many of them are free. */
  volume: () => Promise<{ size: number; free: number }>;
  /** Stores a complete body, or nothing of it. Frees the memory of each chunk once it is written. */
  receive: (body: AsyncIterable<Uint8Array>, incoming: Incoming) => Promise<Part>;
  /** Stores a body of unknown length and digest, or nothing of it; throws `too_large` for more than `most` bytes. */
  collect: (body: AsyncIterable<Uint8Array>, collecting: Collecting) => Promise<Part>;
  /** The bytes of all parts in order; a chunk is valid until the next. Throws when a part is shorter than recorded. */
  read: (id: string, parts: readonly Part[], signal: AbortSignal) => AsyncGenerator<Uint8Array>;
  discard: (id: string, part: Part) => Promise<void>;
  remove: (id: string) => Promise<void>;
  /** Deletes files of an upload that are not its parts and were not written since `before`; returns how many. */
  prune: (id: string, parts: readonly Part[], before: number) => Promise<number>;
  /** IDs of all folders that were not written since `before`, in Unix milliseconds. */
  idleSince: (before: number) => Promise<string[]>;
};

const bufferBytes = 1_048_576;
const spaceCheckBytes = 8 * bufferBytes;

export function createStaging({ path, keepFree }: { path: string; keepFree: number }): Staging {
  const folderOf = (id: string) => {
    if (!/^[0-9a-f]{32}$/.test(id)) throw new Error(`${id} is not an upload ID`);
    return join(path, id);
  };
  const volume = async () => {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { bavail, blocks, bsize } = await statfs(path);
    return { size: blocks * bsize, free: bavail * bsize };
  };
  // Reserved space may have been used since by something other than uploads.
  const assertSpace = async (bytes: number) => {
    const { size, free } = await volume();
    if (free - bytes < size * keepFree) throw new Fault("upload_staging_full");
  };
  const store = async (
    body: AsyncIterable<Uint8Array>,
    about: Pick<WriteOptions, "id" | "offset" | "signal" | "most" | "check">,
  ): Promise<Part> => {
    const folder = folderOf(about.id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = `${about.offset.toString(16)}.${randomBytes(8).toString("hex")}`;
    const place = join(folder, file);
    const handle = await open(place, "wx", 0o600);
    try {
      const written = await writeBody(handle, untilAborted(body, about.signal), { ...about, assertSpace });
      await handle.close();
      await syncFolder(folder);
      return { ...written, file };
    } catch (error) {
      await handle.close().catch(() => {});
      await unlink(place).catch(() => {});
      throw toFault(error);
    }
  };
  return {
    volume,
    receive: (body, { length, sha256, ...about }) =>
      store(body, { ...about, most: length, check: (written) => assertSent(written, { length, sha256 }) }),
    collect: (body, about) => store(body, { ...about, check: ({ size }) => assertMost(size, about.most) }),
    read: async function* (id, parts, signal) {
      for (const part of parts) yield* readPart(join(folderOf(id), part.file), part, signal);
    },
    discard: (id, { file }) => rm(join(folderOf(id), file), { force: true }),
    remove: (id) => rm(folderOf(id), { recursive: true, force: true }),
    prune: (id, parts, before) => prune(folderOf(id), parts, before),
    idleSince: (before) => idleSince(path, before),
  };
}

type Written = Pick<Part, "size" | "sha256">;
type WriteOptions = Pick<Incoming, "id" | "offset" | "signal"> & {
  /** No byte after this one is written. */
  most: number;
  /** Throws for a body that is not to be kept. */
  check: (written: Written) => void;
  assertSpace: (bytes: number) => Promise<void>;
};

// Writes while the next bytes arrive and are hashed.
async function writeBody(
  handle: FileHandle,
  body: AsyncIterable<Uint8Array>,
  { most, check, assertSpace }: WriteOptions,
): Promise<Written> {
  const hash = createHash("sha256");
  let [received, checked] = [0, 0];
  const writer = createFileWriter(handle);
  for await (const chunk of body) {
    received += chunk.length;
    if (received > most) break;
    if (received > checked) {
      checked = received + spaceCheckBytes;
      await assertSpace(Math.min(spaceCheckBytes, most - received + chunk.length));
    }
    hash.update(chunk);
    if (!writer.write(chunk)) await writer.flush();
  }
  await writer.finish();
  const written = { size: received, sha256: hash.digest("hex") };
  check(written);
  // What was acknowledged must survive a crash of the machine.
  await handle.datasync();
  return written;
}

function assertSent({ size, sha256 }: Written, expected: Pick<Incoming, "length" | "sha256">): void {
  if (size > expected.length)
    throw new Fault("bad_request", { message: "The body exceeds its declared length." });
  if (size < expected.length) throw new Fault("upload_incomplete");
  if (sha256 !== expected.sha256) throw new Fault("digest_mismatch");
}

function assertMost(size: number, most: number): void {
  if (size > most) throw new Fault("too_large", { message: `The file has more than ${most} bytes.` });
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* readPart(place: string, { size }: Part, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const handle = await open(place, "r");
  try {
    for await (const chunk of readAhead(handle, size)) {
      signal.throwIfAborted();
      yield chunk;
    }
  } finally {
    await handle.close();
  }
}

async function idleSince(path: string, before: number): Promise<string[]> {
  const names = await readdir(path).catch(() => []);
  const ids = names.filter((name) => /^[0-9a-f]{32}$/.test(name));
  const stats = await Promise.all(ids.map((id) => stat(join(path, id)).catch(() => undefined)));
  return ids.filter((_, index) => (stats[index]?.mtimeMs ?? Number.POSITIVE_INFINITY) < before);
}

async function prune(folder: string, parts: readonly Part[], before: number): Promise<number> {
  const known = new Set(parts.map(({ file }) => file));
  let pruned = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const about = known.has(name) ? undefined : await stat(join(folder, name)).catch(() => undefined);
    if (!about || about.mtimeMs >= before) continue;
    await rm(join(folder, name), { force: true });
    pruned += 1;
  }
  return pruned;
}

function toFault(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" ? new Fault("upload_staging_full", { cause: error }) : error;
}
