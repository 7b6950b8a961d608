// What of the local archive of the log should have a copy, and its bytes.

import { createHash } from "node:crypto";
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import { bytesBody } from "@svc/object-store";
import { digestOfFile } from "../wal/file-digest.ts";
import type { Run } from "../wal/folder.ts";
import { segmentBytes, segmentStart } from "../wal/lsn.ts";
import { readBase } from "../wal/read-base.ts";
import { type Digest, readFileBytes } from "./source.ts";
import { baseFiles } from "./wal-key.ts";

const compress = promisify(zstdCompress);
const compressionLevel = 3;

/** A file of the archive that never changes again. */
export type LocalPart = {
  path: string;
  sizeBytes: number;
  /** Reads what must be read to know it; throws where the file is damaged. */
  digest: () => Promise<string>;
  open: () => AsyncIterable<Uint8Array>;
};

/** Those of a run in the order in which they are sent: what makes others count comes after them. */
export async function partsOfRun(run: Run): Promise<LocalPart[]> {
  const parts = [await fileOf(run, "run.json")];
  for (const base of [...run.bases].reverse()) {
    const files = await Promise.all(baseFiles.map((file) => fileOf(run, `${base.name}/${file}`)));
    const [tar] = files;
    // Bytes that rotted on the disk never become a copy.
    if (tar)
      parts.push(
        { ...tar, digest: async () => readBase(base.path).then(() => tar.digest()) },
        ...files.slice(1),
      );
  }
  for (const { name } of run.segments) {
    const path = join(run.path, "wal", name);
    parts.push({
      path: `${run.name}/wal/${name}`,
      sizeBytes: segmentBytes,
      digest: async () => (await readFile(`${path}.sha256`, "utf8")).slice(0, 64),
      open: () => readFileBytes(path),
    });
  }
  return parts;
}

async function fileOf(run: Run, name: string): Promise<LocalPart> {
  const path = join(run.path, name);
  const { size } = await stat(path);
  const digest = () => digestOfFile(path);
  return { path: `${run.name}/${name}`, sizeBytes: size, digest, open: () => readFileBytes(path) };
}

type Content = Digest & { open: () => AsyncIterable<Uint8Array> };

/** Bytes that are in memory, as they are sent. */
export function contentOf(bytes: Buffer): Content {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { sizeBytes: bytes.length, sha256, open: () => bytesBody(bytes).read(0) };
}

/** The segment of a position from its beginning to there, compressed; it is at most 16 MiB. */
export async function openSegmentUntil(
  run: Run,
  { name, lsn }: { name: string; lsn: bigint },
): Promise<Content> {
  const length = Number(lsn - segmentStart(lsn));
  const path = join(run.path, "wal", name);
  // It may have become whole meanwhile.
  const file = await open(`${path}.partial`, "r").catch(() => open(path, "r"));
  const bytes = Buffer.alloc(length);
  try {
    const { bytesRead } = await file.read(bytes, 0, length, 0);
    if (bytesRead !== length) throw new Error("it has fewer bytes than were received");
  } finally {
    await file.close();
  }
  const params = {
    [constants.ZSTD_c_compressionLevel]: compressionLevel,
    [constants.ZSTD_c_checksumFlag]: 1,
  };
  return contentOf(await compress(bytes, { params }));
}
