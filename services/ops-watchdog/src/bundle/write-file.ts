// Writes the file of a bundle in one pass: the headers and the manifest are written over once their contents are known.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Manifest, type MemberEntry, manifestMember } from "./manifest.ts";
import { blockSize, encodeHeader, paddingOf } from "./tar.ts";

export type BundleFile = {
  /** Adds a member from its bytes; the returned entry goes into the manifest. Nothing of it is left when they fail. */
  add: (name: string, bytes: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<MemberEntry>;
  /** Ends the archive and puts the manifest in its place; everything is on the disk when it returns. */
  finish: (manifest: Manifest) => Promise<void>;
};

/** `manifestBytes` is the room for the manifest; it is filled up with spaces, which JSON allows. */
export function writeBundleFile(
  file: FileHandle,
  { manifestBytes, takenAt }: { manifestBytes: number; takenAt: Date },
): BundleFile {
  const mtime = takenAt.getTime() / 1_000;
  let at = blockSize + manifestBytes + paddingOf(manifestBytes);
  const write = async (bytes: Buffer, position: number) => {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  };
  return {
    add: async (name, bytes) => {
      const headerAt = at;
      const hash = createHash("sha256");
      let size = 0;
      at += blockSize;
      try {
        for await (const chunk of bytes) {
          hash.update(chunk);
          await write(chunk, at + size);
          size += chunk.length;
        }
      } catch (error) {
        at = headerAt;
        await file.truncate(headerAt);
        throw error;
      }
      await write(encodeHeader({ name, size }, mtime), headerAt);
      at += size + paddingOf(size);
      return { name, size, sha256: hash.digest("hex") };
    },
    finish: async (manifest) => {
      const text = JSON.stringify(manifest);
      if (Buffer.byteLength(text) > manifestBytes) throw new Error("the manifest outgrew its place");
      const padding = " ".repeat(manifestBytes - Buffer.byteLength(text));
      await write(encodeHeader({ name: manifestMember, size: manifestBytes }, mtime), 0);
      await write(Buffer.from(text + padding), blockSize);
      // Two blocks of zeros end an archive; the gaps behind members are holes, which read as zeros.
      await write(Buffer.alloc(2 * blockSize), at);
      await file.sync();
    },
  };
}
