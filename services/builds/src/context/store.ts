// Where contexts are stored: blobs that are written once, whole or not at all, by the name that their writer chose
// (docs/reference/submissions.md#store). What refers to a blob is a row; a blob that no row names is swept.

import { randomBytes } from "node:crypto";

/** A blob of a submission: `<submission>/<kind>-<16 hex>`. */
export type StoredBlob = { name: string; size: number; modifiedAt: number };

export type ContextStore = {
  /** Bytes of the volume and how many of them are free; undefined where there is none. */
  volume: () => Promise<{ size: number; free: number } | undefined>;
  /** Stores a body that ends without an error; keeps nothing of any other. */
  put: (name: string, body: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>;
  /** The bytes of a blob; a chunk is valid until the next. Throws `unavailable` when it is missing or shorter. */
  read: (blob: { name: string; size: number }, signal: AbortSignal) => AsyncIterable<Buffer>;
  /** All bytes of a blob whose size nobody recorded. */
  readWhole: (name: string, signal: AbortSignal) => AsyncIterable<Buffer>;
  remove: (names: readonly string[]) => Promise<void>;
  list: () => Promise<StoredBlob[]>;
  close: () => void;
};

type BlobKind = "part" | "index";

export function newBlobName(submissionId: string, kind: BlobKind): string {
  return `${submissionId}/${kind}-${randomBytes(8).toString("hex")}`;
}
