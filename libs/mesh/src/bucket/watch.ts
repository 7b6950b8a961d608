// All entries of a bucket and then its changes, also after gaps.

import { type Bucket, Fault } from "@svc/proto";
import type { BucketWatchOptions } from "../api.ts";
import type { Core } from "../core.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { bucketFilter, bucketStream, isRemoval, keyOf } from "../stream/key-value.ts";
import { type OrderedReader, openOrdered } from "../stream/ordered.ts";
import { decodeEntry } from "./entry.ts";

const heartbeatMs = 5_000;
const keysWithinMs = 5_000;

export function watchBucket<V>(core: Core, bucket: Bucket<V>, options: BucketWatchOptions<V>): OrderedReader {
  /** Keys that were reported and are not gone. */
  let reported = new Set<string>();
  /** Keys of the current round, until it has caught up. */
  let incoming: Set<string> | undefined;
  const report = (message: StreamMessage) => {
    const key = keyOf(bucket, message);
    if (isRemoval(message)) {
      incoming?.delete(key);
      if (reported.delete(key)) options.onGone(key);
      return;
    }
    incoming?.add(key);
    reported.add(key);
    try {
      const value = decodeEntry(bucket, key, message.body);
      options.onEntry({ key, value, revision: message.sequence });
    } catch (error) {
      core.log.error({ bucket: bucket.name, key, err: error }, "reading a bucket entry failed");
    }
  };
  return read(core, bucket, {
    onStart: () => {
      incoming = new Set();
    },
    onMessage: report,
    onCaughtUp: () => {
      const gone = [...reported].filter((key) => !incoming?.has(key));
      reported = new Set(incoming);
      incoming = undefined;
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
