// While an object is sealed again it may be the only copy of what it has, and a store may keep other bytes than it was sent. So
// it is first sealed to a place of its own, the spare; the object is replaced by what the spare has, and the spare goes once
// the object was read back to its last byte (docs/reference/off-site.md#rotation). A spare that is there says that its object
// was not read back yet, whoever was killed.

import { releaseChunk } from "@svc/mesh";
import { isSealedError, type KeyRing, open } from "@svc/sealed";
import { isSealedObject } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { openReceived } from "./release-chunks.ts";

const folder = "resealed/";

export const spareOf = (key: string): string => `${folder}${key}`;

/** The object that a spare is of; undefined for every other object. */
function originalOf(key: string): string | undefined {
  const original = key.startsWith(folder) ? key.slice(folder.length) : "";
  return isSealedObject(original) ? original : undefined;
}

/** Puts what the spare has in the place of its object, reads that back whole, and only then deletes the spare. */
export async function replaceBySpare(pass: Pass, key: string): Promise<void> {
  const { bucket, signal, step } = pass;
  const spare = spareOf(key);
  const found = await bucket.head(spare, { signal });
  if (!found) throw new Error("the store does not have it after it was stored");
  const { sizeBytes, etag } = found;
  const read = (from: number) => readChecked(pass, { key: spare, sizeBytes, from });
  await bucket.put({
    key,
    fingerprint: `${spare}:${etag}`,
    body: () => ({ sizeBytes, state: "", read }),
    signal,
  });
  step("replaced");
  if (!(await isWhole(pass, key, activeOf(pass))))
    throw new Error("the store has other bytes than it was sent; the second copy stays until the next pass");
  await removeSpare(pass, key);
}

/** Finishes what an earlier pass left. True when no object is in the bucket twice any more. */
export async function finishSpares(pass: Pass): Promise<boolean> {
  let isDone = true;
  for (const { key: spare } of pass.listing.all()) {
    const key = originalOf(spare);
    if (key !== undefined) isDone = (await pass.attempt(key, () => finish(pass, key))) && isDone;
  }
  return isDone;
}

async function finish(pass: Pass, key: string): Promise<void> {
  if (await isWhole(pass, key, activeOf(pass))) return removeSpare(pass, key);
  try {
    await replaceBySpare(pass, key);
  } catch (error) {
    // A spare that is damaged is of no use beside an object that is not.
    if (!isSealedError(error) || !(await isWhole(pass, key, pass.ring))) throw error;
    await removeSpare(pass, key);
  }
}

async function removeSpare({ bucket, claim, signal, step }: Pass, key: string): Promise<void> {
  await claim.assertHeld();
  step("spare-delete");
  await bucket.delete(spareOf(key), { signal });
}

const activeOf = ({ ring }: Pass): KeyRing => ({ active: ring.active, older: [] });

/** Whether these keys open an object to its last byte; false also where it is missing. */
async function isWhole({ bucket, signal }: Pass, key: string, ring: KeyRing): Promise<boolean> {
  const found = await bucket.get(key, { signal });
  if (!found) return false;
  try {
    for await (const plain of openReceived(found.bytes, ring)) releaseChunk(plain);
    return true;
  } catch (error) {
    if (isSealedError(error)) return false;
    throw error;
  }
}

type Wanted = { key: string; sizeBytes: number; from: number };

/** Sealed bytes as they are, from one on; the last ones only once all of the object was opened with the active key. */
async function* readChecked(pass: Pass, { key, sizeBytes, from }: Wanted): AsyncGenerator<Uint8Array> {
  const found = await pass.bucket.get(key, { sizeBytes, signal: pass.signal });
  if (!found) throw new Error("the second copy is gone");
  const held: Buffer[] = [];
  let position = 0;
  async function* received(bytes: AsyncIterable<Buffer>) {
    for await (const chunk of bytes) {
      const start = Math.max(0, from - position);
      position += chunk.length;
      if (start < chunk.length) held.push(chunk.subarray(start));
      yield chunk;
    }
  }
  for await (const _ of open(received(found.bytes), activeOf(pass)))
    while (held.length > 1) yield held.shift() as Buffer;
  yield* held;
}
