// Seals one plaintext and stores it, or seals a stored object again under the active key.

import { isObjectStoreError, type ObjectStore } from "@svc/object-store";
import { isFault } from "@svc/proto";
import { createSealedBody, isStateOf, type KeyRing, reseal, sealedSize } from "@svc/sealed";
import { releaseChunks } from "./release-chunks.ts";
import { type Digest, verified, WrongBytesError } from "./source.ts";

type SendDeps = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

type Outgoing = Digest & {
  key: string;
  /** The plaintext from its first byte on, in chunks that are freed once they are sealed; called again for a repeat. */
  open: () => AsyncIterable<Uint8Array>;
  onProgress?: (sentBytes: number) => void;
  /** Gets the tag under which the store has it. */
  onStored?: (tag: string) => void;
};

/** Stores a sealed copy of bytes with a known digest. */
export function send(deps: SendDeps, outgoing: Outgoing): Promise<number> {
  const { key, sizeBytes, sha256, open, onProgress, onStored } = outgoing;
  const readPlain = (from: number) => releaseChunks(verified(open(), outgoing, from));
  return sendPlain(deps, {
    key,
    plainBytes: sizeBytes,
    fingerprint: sha256,
    readPlain,
    onProgress,
    onStored,
  });
}

type Plain = {
  key: string;
  plainBytes: number;
  /** Of the plaintext: an upload in parts is resumed only for the same. */
  fingerprint: string;
  readPlain: (from: number) => AsyncIterable<Uint8Array>;
  onProgress?: ((sentBytes: number) => void) | undefined;
  onStored?: Outgoing["onStored"] | undefined;
};

/** Seals and stores a plaintext, and asks the store for its size before anybody relies on it. */
export async function sendPlain(deps: SendDeps, plain: Plain): Promise<number> {
  const { bucket, ring, signal } = deps;
  const { key, plainBytes, fingerprint, readPlain, onProgress } = plain;
  await bucket.put({
    key,
    fingerprint: `${ring.active.id}:${fingerprint}`,
    body: (state) =>
      createSealedBody({
        key: ring.active,
        plainBytes,
        readPlain,
        state: state !== undefined && isStateOf(state, ring.active) ? state : undefined,
      }),
    onProgress,
    signal,
  });
  const { etag, sizeBytes } = await confirm(deps, key, sealedSize(plainBytes));
  plain.onStored?.(etag);
  return sizeBytes;
}

/** Seals an object again and stores it as `to`; its plaintext is never stored. */
export async function sendAgain(
  deps: SendDeps,
  { key, to, sizeBytes, etag }: { key: string; to: string; sizeBytes: number; etag: string },
): Promise<void> {
  const { bucket, ring, signal } = deps;
  async function* readSealed() {
    const found = await bucket.get(key, { sizeBytes, signal });
    if (!found) throw new Error("the object is gone");
    yield* releaseChunks(found.bytes);
  }
  await bucket.put({
    key: to,
    fingerprint: `${ring.active.id}:${etag}`,
    body: (state) => {
      const own = state !== undefined && isStateOf(state, ring.active) ? state : undefined;
      return reseal({ ring, sealedBytes: sizeBytes, readSealed, state: own });
    },
    signal,
  });
  await confirm(deps, to, sizeBytes);
}

async function confirm({ bucket, signal }: SendDeps, key: string, sizeBytes: number) {
  const found = await bucket.head(key, { signal });
  if (!found) throw new Error("the store does not have it after it was stored");
  if (found.sizeBytes !== sizeBytes)
    throw new Error(`the store has ${found.sizeBytes} of ${sizeBytes} bytes after it was stored`);
  return found;
}

/** Failures of one object; the others may succeed. A pass that cannot work at all ends. */
export function isOfOneObject(error: unknown): boolean {
  if (error instanceof WrongBytesError) return true;
  const ending = ["credential", "no_bucket", "clock", "denied", "full"] as const;
  return !ending.some((problem) => isObjectStoreError(error, problem));
}

/** The store, storage or builds does not answer; three archives that rotted must not keep all others from being copied. */
export function isOutOfReach(error: unknown): boolean {
  return isObjectStoreError(error, "unavailable") || (isFault(error) && error.fault === "unavailable");
}
