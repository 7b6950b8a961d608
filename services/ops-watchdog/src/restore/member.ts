// Reads single members of a bundle by their place, in any order.

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Manifest } from "../bundle/manifest.ts";
import { blockSize, decodeHeader, paddingOf } from "../bundle/tar.ts";
import { DamagedBundleError } from "../bundle/verify.ts";

const chunkBytes = 262_144;

export type MemberReader = {
  /** The bytes of a member; ends with `DamagedBundleError` when they are not those of the manifest. */
  read: (name: string) => AsyncGenerator<Buffer>;
  close: () => Promise<void>;
};

export async function openMembers(path: string, manifest: Manifest): Promise<MemberReader> {
  const file = await open(path, "r");
  try {
    const places = await placesOf(file, manifest);
    return {
      read: (name) => {
        const place = places.get(name);
        if (!place) throw new DamagedBundleError(`${name} is missing`);
        return readMember(file, { name, ...place });
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

type Place = { at: number; size: number; sha256: string };

async function placesOf(file: FileHandle, manifest: Manifest): Promise<Map<string, Place>> {
  const block = Buffer.alloc(blockSize);
  await file.read(block, 0, blockSize, 0);
  const first = decodeHeader(block)?.size ?? 0;
  let at = blockSize + first + paddingOf(first);
  const places = new Map<string, Place>();
  for (const { name, size, sha256 } of manifest.members) {
    places.set(name, { at: at + blockSize, size, sha256 });
    at += blockSize + size + paddingOf(size);
  }
  return places;
}

async function* readMember(file: FileHandle, member: Place & { name: string }): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  for (let done = 0; done < member.size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, member.size - done));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, member.at + done);
    if (bytesRead === 0) throw new DamagedBundleError(`${member.name} is cut off`);
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    done += bytesRead;
    yield chunk;
  }
  if (hash.digest("hex") !== member.sha256) throw new DamagedBundleError(`${member.name} has another digest`);
}
