// A bucket of an owner: reads the last message of a subject, and writes only directly behind a given one.

import type { Bucket } from "@svc/proto";
import type { BucketStore, BucketWriteOptions } from "../api.ts";
import type { Core } from "../core.ts";
import { encodeJson } from "../json.ts";
import { bucketStream, isRemoval, keySubject, removalHeaders } from "../stream/key-value.ts";
import { readLast, storeAfter } from "../stream/read-last.ts";
import { decodeEntry } from "./entry.ts";
import { readKeys, watchBucket } from "./watch.ts";

type Closeable = { close: () => Promise<void> };

/** Opens it; watches are added to `opened`, to be closed with the mesh. */
export function openBucket<V>(core: Core, bucket: Bucket<V>, opened: Closeable[]): BucketStore<V> {
  if (bucket.owner !== core.service) throw new Error(`the bucket ${bucket.name} belongs to ${bucket.owner}`);
  const write = async (key: string, value: V, after: number, options: BucketWriteOptions = {}) => {
    const body = encodeJson(bucket.value.parse(value));
    const headers = { "Nats-TTL": secondsOf(options.ttlMs ?? bucket.ttlMs) };
    return storeAfter(core, { subject: keySubject(bucket, key), body, headers, after });
  };
  const lastOf = (key: string) => readLast(core, bucketStream(bucket.name), keySubject(bucket, key));

  return {
    get: async (key) => {
      const last = await lastOf(key);
      if (!last?.isPublished || isRemoval(last)) return undefined;
      return { key, value: decodeEntry(bucket, key, last.body), revision: last.sequence };
    },
    create: async (key, value, options) => {
      const revision = await write(key, value, 0, options);
      if (revision !== undefined) return revision;
      // The last message may be a delete marker; whoever writes directly behind it first has created the entry.
      const last = await lastOf(key);
      if (last && !(last.isPublished && isRemoval(last))) return undefined;
      return write(key, value, last?.sequence ?? 0, options);
    },
    update: async (key, value, revision, options) => {
      return write(key, value, revision, options);
    },
    delete: async (key, revision) => {
      const subject = keySubject(bucket, key);
      const done = await storeAfter(core, {
        subject,
        body: new Uint8Array(0),
        headers: removalHeaders,
        after: revision,
      });
      return done !== undefined;
    },
    keys: () => readKeys(core, bucket),
    watch: (options) => {
      const watching = watchBucket(core, bucket, options);
      opened.push(watching);
      return watching;
    },
  };
}

// The server takes whole seconds. Rounded up, so that an entry never expires early.
function secondsOf(ttlMs: number): string {
  if (!(ttlMs >= 1_000))
    throw new Error(`a lifetime of ${ttlMs} ms is too short for a bucket; the minimum is 1000`);
  return String(Math.ceil(ttlMs / 1_000));
}
