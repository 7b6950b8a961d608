// Reads a base backup and compares every file with the manifest that the server made.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { z } from "zod";
import { blockSize, decodeEntry, paddingOf } from "../bundle/tar.ts";

export class DamagedBaseError extends Error {
  override name = "DamagedBaseError";
}

/** Gets the members in the order of the archive; `write` with the bytes of the newest file. */
type BaseSink = {
  folder: (name: string) => Promise<void>;
  file: (name: string) => Promise<void>;
  write: (bytes: Buffer) => Promise<void>;
};

const Manifest = z.object({
  Files: z.array(
    z.object({
      Path: z.string().optional(),
      "Encoded-Path": z.string().optional(),
      Size: z.number(),
      Checksum: z.string().optional(),
    }),
  ),
  "Manifest-Checksum": z.string(),
});

type Expected = Map<string, { size: number; sha256: string | undefined }>;

/** Throws a `DamagedBaseError` that names the first file that is not as the server sent it. */
export async function readBase(dir: string, sink?: BaseSink): Promise<{ files: number; bytes: number }> {
  try {
    return await read(dir, sink);
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    // What the disk or the sink refuses is not damage; everything else comes from the bytes.
    if (error instanceof DamagedBaseError || (syscall !== undefined && code !== "ENOENT")) throw error;
    throw new DamagedBaseError(message);
  }
}

async function read(dir: string, sink: BaseSink | undefined) {
  const expected = readExpected(await readFile(join(dir, "backup_manifest")));
  const count = expected.size;
  const unpack = createZstdDecompress();
  pipeline(createReadStream(join(dir, "base.tar.zst")), unpack, () => undefined);
  let bytes = 0;
  for await (const { name, size, sha256 } of readMembers(unpack as AsyncIterable<Buffer>, sink)) {
    const should = expected.get(name);
    if (!should) {
      if (name.startsWith("pg_wal/") || name === "postgresql.auto.conf.tmp") continue;
      throw new DamagedBaseError(`${name} is not in its manifest`);
    }
    if (should.size !== size || (should.sha256 !== undefined && should.sha256 !== sha256))
      throw new DamagedBaseError(`${name} is not as the server sent it`);
    expected.delete(name);
    bytes += size;
  }
  unpack.destroy();
  const [missing] = expected.keys();
  if (missing !== undefined) throw new DamagedBaseError(`${missing} is missing`);
  return { files: count, bytes };
}

/** The manifest ends with the digest of everything before its last line. */
function readExpected(text: Buffer): Expected {
  const lastLine = text.lastIndexOf("\n", text.length - 2) + 1;
  let manifest: z.output<typeof Manifest>;
  try {
    manifest = Manifest.parse(JSON.parse(text.toString("utf8")));
  } catch {
    throw new DamagedBaseError("its manifest cannot be read");
  }
  const sum = createHash("sha256").update(text.subarray(0, lastLine)).digest("hex");
  if (sum !== manifest["Manifest-Checksum"]) throw new DamagedBaseError("its manifest is damaged");
  return new Map(
    manifest.Files.map((file) => [
      file.Path ?? Buffer.from(file["Encoded-Path"] ?? "", "hex").toString("latin1"),
      { size: file.Size, sha256: file.Checksum },
    ]),
  );
}

async function* readMembers(tar: AsyncIterable<Buffer>, sink: BaseSink | undefined) {
  const source = createSource(tar);
  for (;;) {
    const block = await source.exactly(blockSize);
    const entry = decode(block);
    if (!entry) return;
    const { name, size, type } = entry;
    if (name.startsWith("/") || name.split("/").includes(".."))
      throw new DamagedBaseError(`${name} leads out of the folder`);
    if (type === "5") {
      await sink?.folder(name);
      continue;
    }
    if (type !== "0") throw new DamagedBaseError(`${name} is neither a file nor a folder`);
    await sink?.file(name);
    const hash = createHash("sha256");
    for await (const chunk of source.upTo(size)) {
      hash.update(chunk);
      await sink?.write(chunk);
    }
    await source.exactly(paddingOf(size));
    yield { name, size, sha256: hash.digest("hex") };
  }
}

function decode(block: Buffer) {
  try {
    return decodeEntry(block);
  } catch (error) {
    throw new DamagedBaseError((error as Error).message);
  }
}

function createSource(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function* upTo(size: number) {
    for (let left = size; left > 0; ) {
      if (rest.length === 0) {
        const next = await iterator.next();
        if (next.done) throw new DamagedBaseError("it ends too early");
        rest = next.value;
      }
      const taken = rest.subarray(0, left);
      rest = rest.subarray(taken.length);
      left -= taken.length;
      yield taken;
    }
  }
  const exactly = async (size: number) => {
    const parts: Buffer[] = [];
    for await (const part of upTo(size)) parts.push(part);
    return Buffer.concat(parts, size);
  };
  return { upTo, exactly };
}
