// The stream of a bucket: made when it is first used, and looked at again after every reconnect.

import type { Bucket } from "@svc/proto";
import type { Core } from "../core.ts";
import { ensureStream, type StreamConfig } from "../event/streams.ts";
import { bucketFilter, bucketStream } from "../view/bucket.ts";
import { unavailable } from "./last.ts";

const minute = 60e9;
/** JetStream reserves it at once; entries are tickets and sessions of a few hundred bytes. */
const largestBytes = 16 * 1_048_576;

/** A NATS that lost its disk comes back without the bucket, so what was known is forgotten with the connection. */
export function ensurer(core: Core, bucket: Pick<Bucket, "name" | "summary">): () => Promise<void> {
  let ensured: Promise<void> | undefined;
  const ensure = async () => {
    try {
      await ensureStream(core.link, configOf(bucket));
    } catch (error) {
      ensured = undefined;
      throw unavailable(error);
    }
  };
  core.link.onReconnect(() => {
    ensured = undefined;
  });
  return () => {
    ensured ??= ensure();
    return ensured;
  };
}

function configOf(bucket: Pick<Bucket, "name" | "summary">): StreamConfig {
  return {
    name: bucketStream(bucket.name),
    subjects: [bucketFilter(bucket)],
    description: bucket.summary,
    storage: "file",
    retention: "limits",
    discard: "new",
    max_age: 0,
    max_bytes: largestBytes,
    max_msgs_per_subject: 1,
    duplicate_window: 2 * minute,
    allow_direct: true,
    allow_rollup_hdrs: true,
    allow_msg_ttl: true,
    deny_delete: true,
    // Readers learn of an end by age as of any other.
    subject_delete_marker_ttl: 5 * minute,
  };
}
