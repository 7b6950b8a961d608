// What is in the bucket, and what this pass changed of it.

import type { ListedObject, ObjectStore } from "@svc/object-store";
import type { CopyState } from "./plan-archives.ts";

type Listed = Pick<ListedObject, "sizeBytes" | "modifiedAt" | "etag">;

export type Listing = {
  find: (key: string) => Listed | undefined;
  /** Whether an object is there with this size. */
  stateOf: (key: string, sizeBytes: number) => CopyState;
  all: () => { key: string; sizeBytes: number; modifiedAt: Date | undefined; etag: string }[];
  keys: () => Iterable<string>;
  added: (key: string, sizeBytes: number) => void;
  removed: (key: string) => void;
};

export async function listBucket(bucket: ObjectStore, signal: AbortSignal, prefix = ""): Promise<Listing> {
  const found = new Map<string, Listed>();
  for await (const { key, ...listed } of bucket.list(prefix, { signal })) found.set(key, listed);
  return {
    find: (key) => found.get(key),
    stateOf: (key, sizeBytes) => {
      const listed = found.get(key);
      if (!listed) return "none";
      return listed.sizeBytes === sizeBytes ? "whole" : "not_whole";
    },
    all: () => [...found].map(([key, listed]) => ({ key, ...listed })),
    keys: () => found.keys(),
    added: (key, sizeBytes) => void found.set(key, { sizeBytes, modifiedAt: new Date(), etag: "" }),
    removed: (key) => void found.delete(key),
  };
}
