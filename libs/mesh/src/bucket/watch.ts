// Everything in a bucket and then its changes, over every gap.

import { type Bucket, Fault } from "@svc/proto";
import type { BucketWatchOptions } from "../api.ts";
import type { Core } from "../core.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { bucketFilter, bucketStream, isRemoval, keyOf } from "../stream/key-value.ts";
import { type OrderedReader, openOrdered } from "../stream/ordered.ts";
import { decodeEntry } from "./entry.ts";

const heartbeatMs = 1_000;
const keysWithinMs = 5_000;

export function watchBucket<V>(core: Core, bucket: Bucket<V>, options: BucketWatchOptions<V>): OrderedReader {
  /** Keys that were told and are not gone. */
  let told = new Set<string>();
  /** Keys of the round under way, until it has caught up. */
  let coming: Set<string> | undefined;
  const tell = (message: StreamMessage) => {
    const key = keyOf(bucket, message);
    if (isRemoval(message)) {
      coming?.delete(key);
      if (told.delete(key)) options.onGone(key);
      return;
    }
    coming?.add(key);
    told.add(key);
    try {
      const value = decodeEntry(bucket, key, message.body);
      options.onEntry({ key, value, revision: message.sequence });
    } catch (error) {
      core.log.error({ bucket: bucket.name, key, err: error }, "an entry could not be told");
    }
  };
  return read(core, bucket, {
    onStart: () => {
      coming = new Set();
    },
    onMessage: tell,
    onCaughtUp: () => {
      const gone = [...told].filter((key) => !coming?.has(key));
      told = new Set(coming);
      coming = undefined;
      for (const key of gone) options.onGone(key);
      options.onCaughtUp?.();
    },
  });
}

/** Keys of all entries in order. Throws the fault `unavailable`. */
export async function readKeys(core: Core, bucket: Bucket): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const keys = new Set<string>();
  const reader = read(core, bucket, {
    onStart: () => keys.clear(),
    onMessage: (message) => {
      if (isRemoval(message)) keys.delete(keyOf(bucket, message));
      else keys.add(keyOf(bucket, message));
    },
    onCaughtUp: () => resolve([...keys].sort()),
  });
  const late = setTimeout(
    () => reject(new Fault("unavailable", { cause: new Error("reading the keys timed out") })),
    keysWithinMs,
  );
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    await reader.close();
  }
}

type Reading = {
  onStart: () => void;
  onMessage: (message: StreamMessage) => void;
  onCaughtUp: () => void;
};

function read(core: Core, bucket: Bucket, reading: Reading): OrderedReader {
  return openOrdered(core, {
    stream: bucketStream(bucket.name),
    filter: bucketFilter(bucket),
    heartbeatMs,
    startFrom: () => ({ at: "first" }),
    ...reading,
  });
}
