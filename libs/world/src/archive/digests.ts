// The SHA-256 of each file of an archive: 32 bytes a file, in the order of the index and in a frame of their own before it, which
// readers of earlier releases pass over (docs/reference/backups.md#archive).

import { createHash, type Hash, hash } from "node:crypto";
import { printable } from "./tar-entry.ts";
import { corrupt } from "./tar-header.ts";

const digestBytes = 32;
const blockBytes = 64 << 10;
/** Of a file without a digest: one with holes, which may be larger than can be read. */
const none = Buffer.alloc(digestBytes);

type DigestWriter = {
  /** Of the next file. */
  add: (digest: Buffer | undefined) => void;
  finish: () => Buffer;
};

export function createDigestWriter(): DigestWriter {
  const blocks: Buffer[] = [];
  let filled = blockBytes;
  return {
    add: (digest = none) => {
      if (filled === blockBytes) {
        blocks.push(Buffer.alloc(blockBytes));
        filled = 0;
      }
      filled += digest.copy(blocks.at(-1) ?? none, filled);
    },
    finish: () =>
      Buffer.concat(blocks, Math.max(0, blocks.length - 1) * blockBytes + (blocks.length > 0 ? filled : 0)),
  };
}

type DigestReader = {
  /** Of the next file; undefined where it has none. Throws `backup_corrupt` when there are too few. */
  next: () => Buffer | undefined;
  /** Throws `backup_corrupt` when there are more. */
  end: () => void;
};

/** `content`: of the frame; absent in an archive of an earlier release, where no file has one. */
export function readDigests(content: Buffer | undefined): DigestReader {
  let at = 0;
  return {
    next: () => {
      if (!content) return undefined;
      const digest = content.subarray(at, at + digestBytes);
      at += digestBytes;
      if (digest.length < digestBytes) throw corrupt("it has fewer digests than files");
      return digest.equals(none) ? undefined : digest;
    },
    end: () => {
      if (content && at !== content.length) throw corrupt("it has more digests than files");
    },
  };
}

export type Digest = { update: (part: Buffer, isWhole: boolean) => void; digest: () => Buffer };

/** SHA-256 of one file. In one call for a file that comes in one part, which takes a third of the time. */
export function createDigest(): Digest {
  let known: Buffer | undefined;
  let open: Hash | undefined;
  return {
    update: (part, isWhole) => {
      if (isWhole) known = hash("sha256", part, "buffer");
      else {
        open ??= createHash("sha256");
        open.update(part);
      }
    },
    digest: () => known ?? (open ?? createHash("sha256")).digest(),
  };
}

type Expected = { path: string; size: number; digest: Buffer };

/** The same chunks. Throws `backup_corrupt`, with the name of the file, at the end of a content that has another digest. */
export async function* compared(
  content: AsyncIterable<Buffer>,
  { path, size, digest }: Expected,
): AsyncGenerator<Buffer> {
  const found = createDigest();
  for await (const chunk of content) {
    found.update(chunk, chunk.length === size);
    yield chunk;
  }
  if (!found.digest().equals(digest))
    throw corrupt(`${printable(path)} differs from its digest in the index`);
}
