// ADD unpacks archives: a tar, plain or as gzip. The rules of contexts hold for them as well.

import { createReadStream } from "node:fs";
import { chmod, mkdtemp, open } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { type ContextLimits, Folder, unpackPack } from "@svc/world";

export type Unpacking = {
  /** Where archives are unpacked; removed by whoever made it. */
  work: string;
  limits: ContextLimits;
  /** Of all archives so far; the limits hold for them together. */
  bytes: number;
  entries: number;
};

const block = 512;
const others = { "425a68": "bzip2", fd377a585a00: "xz", "28b52ffd": "zstd" };

/** The folder that now holds what was in the archive; undefined for a file that is none, which ADD copies. */
export async function unpackSource(path: string, unpacking: Unpacking): Promise<string | undefined> {
  const { work, limits } = unpacking;
  const head = await headOf(path);
  const hex = head.toString("hex", 0, 6);
  for (const [magic, name] of Object.entries(others))
    if (hex.startsWith(magic))
      throw new Error(
        `this builder unpacks no ${name}; pack it as gzip, use COPY to keep it packed, or set builds.builder`,
      );
  const isGzip = hex.startsWith("1f8b");
  if (!isTar(isGzip ? await firstOf(path) : head)) return undefined;
  const folder = await mkdtemp(join(work, "archive-"));
  // Its mode becomes that of the folder in the image.
  await chmod(folder, 0o755);
  await using root = await Folder.openRoot(folder);
  const left = {
    plainBytes: limits.plainBytes - unpacking.bytes,
    entries: limits.entries - unpacking.entries,
  };
  await unpackPack(createReadStream(path), root, { limits: { ...limits, ...left }, isPlain: !isGzip });
  return folder;
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path, "r");
  const head = Buffer.alloc(block);
  await file.read(head, 0, block, 0);
  return head;
}

/** The first unpacked bytes; fewer where it is torn. */
async function firstOf(path: string): Promise<Buffer> {
  const packed = createReadStream(path);
  const plain = createGunzip();
  packed.on("error", (error) => plain.destroy(error));
  let head = Buffer.alloc(0);
  try {
    for await (const chunk of packed.pipe(plain)) {
      head = Buffer.concat([head, chunk as Buffer]);
      if (head.length >= block) break;
    }
  } catch {
    // What is not gzip after all is copied as it is.
  } finally {
    packed.destroy();
  }
  return head.subarray(0, block);
}

function isTar(head: Buffer): boolean {
  return head.length === block && head.toString("latin1", 257, 262) === "ustar";
}
