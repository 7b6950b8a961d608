// What is in the bucket, and what this pass changed of it.

import type { ListedObject, ObjectStore } from "@svc/object-store";
import type { CopyState } from "./plan-archives.ts";

export type Listing = {
  find: (key: string) => ListedObject | undefined;
  /** Whether an object is there with this size. */
  stateOf: (key: string, sizeBytes: number) => CopyState;
  all: () => ListedObject[];
  keys: () => Iterable<string>;
  added: (key: string, sizeBytes: number) => void;
  removed: (key: string) => void;
  /** It has the size of what it should be, and is something else. */
  spoiled: (key: string) => void;
};

export async function listBucket(bucket: ObjectStore, signal: AbortSignal, prefix = ""): Promise<Listing> {
  const found = new Map<string, ListedObject>();
  const spoiled = new Set<string>();
  for await (const listed of bucket.list(prefix, { signal })) found.set(listed.key, listed);
  return {
    find: (key) => found.get(key),
    stateOf: (key, sizeBytes) => {
      const listed = found.get(key);
      if (!listed) return "none";
      return listed.sizeBytes === sizeBytes && !spoiled.has(key) ? "whole" : "not_whole";
    },
    all: () => [...found.values()],
    keys: () => found.keys(),
    added: (key, sizeBytes) => {
      spoiled.delete(key);
      found.set(key, { key, sizeBytes, modifiedAt: new Date(), etag: "" });
    },
    spoiled: (key) => void spoiled.add(key),
    removed: (key) => void found.delete(key),
  };
}
