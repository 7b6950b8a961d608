// Reads an image from an OCI archive: an uncompressed tar of an OCI image layout. Blobs are read where they lie.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  type Descriptor,
  digestOf,
  type ImageManifest,
  type Manifest,
  mediaTypes,
  parseManifest,
} from "@svc/registry";
import { decodeHeader, paddingAfter } from "@svc/world";

export type ImageArchive = AsyncDisposable & {
  manifest: ImageManifest;
  /** As it will be pushed. */
  raw: Manifest;
  /** A new stream of a blob that the archive has. */
  open: (blob: Descriptor) => Readable;
  read: (blob: Descriptor) => Promise<Buffer>;
  /** Throws when a blob is not what its digest says: the builder's RUN lines may have written the archive. */
  verify: (blob: Descriptor, signal: AbortSignal) => Promise<void>;
};

type Extent = { at: number; size: number };

const documentBytes = 4 << 20;
/** An image has at most 1,000 layers. */
const mostMembers = 2_100;

/** Throws with a reason for what is not the archive of exactly one image. */
export async function openImageArchive(path: string): Promise<ImageArchive> {
  const file = await open(path, "r");
  try {
    const members = await membersOf(file);
    const read = (name: string) => readMember(file, members.get(name), name);
    const index = parseManifest({ mediaType: mediaTypes.index, bytes: await read("index.json") });
    const only = index.kind === "index" && index.manifests.length === 1 ? index.manifests[0] : undefined;
    if (!only) throw new Error("the image archive does not hold exactly one image");
    const bytes = await read(nameOf(only.digest));
    if (digestOf(bytes) !== only.digest) throw new Error("the manifest in the image archive is damaged");
    const manifest = parseManifest({ mediaType: only.mediaType, bytes });
    if (manifest.kind !== "image") throw new Error("the image archive holds an image for several platforms");
    const extentOf = ({ digest, size }: Descriptor) => {
      const extent = members.get(nameOf(digest));
      if (extent?.size !== size) throw new Error(`the image archive lacks the blob ${digest}`);
      return extent;
    };
    for (const blob of [manifest.config, ...manifest.layers]) extentOf(blob);
    const openBlob = (blob: Descriptor) => {
      const { at, size } = extentOf(blob);
      if (size === 0) return Readable.from([]);
      return createReadStream(path, { start: at, end: at + size - 1, highWaterMark: 256 << 10 });
    };
    return {
      manifest,
      raw: { mediaType: only.mediaType, digest: only.digest, bytes },
      open: openBlob,
      read: (blob) => readMember(file, extentOf(blob), blob.digest),
      verify: async (blob, signal) => {
        const hash = createHash("sha256");
        await pipeline(openBlob(blob), hash, { signal });
        if (`sha256:${hash.digest("hex")}` !== blob.digest)
          throw new Error(`the blob ${blob.digest} in the image archive is damaged`);
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function nameOf(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}

async function readMember(file: FileHandle, extent: Extent | undefined, name: string): Promise<Buffer> {
  if (!extent || extent.size > documentBytes) throw new Error(`the image archive has no usable ${name}`);
  const bytes = Buffer.alloc(extent.size);
  const { bytesRead } = await file.read(bytes, 0, extent.size, extent.at);
  if (bytesRead < extent.size) throw new Error("the image archive is cut");
  return bytes;
}

/** Where the content of each file lies. */
async function membersOf(file: FileHandle): Promise<Map<string, Extent>> {
  const members = new Map<string, Extent>();
  const { size: whole } = await file.stat();
  const block = Buffer.alloc(512);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(block, 0, 512, at);
    const header = bytesRead === 512 ? decodeHeader(block) : undefined;
    if (!header) {
      if (bytesRead < 512) throw new Error("the image archive is cut");
      return members;
    }
    const { path, type, size } = header;
    if (!/^[05]$/.test(type)) throw new Error(`the image archive holds an entry of type ${type}`);
    if (size < 0 || at + 512 + size > whole) throw new Error("the image archive is cut");
    if (members.size >= mostMembers) throw new Error("the image archive has too many files");
    members.set(path.replace(/^\.\//, ""), { at: at + 512, size });
    at += 512 + size + paddingAfter(size);
  }
}
