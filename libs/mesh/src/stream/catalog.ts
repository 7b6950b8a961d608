// The JetStream streams and consumers of this installation. `svc migrate up` creates and updates them.

import type { ConsumerConfig, StreamConfig as JetStreamConfig } from "@nats-io/jetstream";
import {
  auditStream,
  type Bucket,
  buckets,
  type Durable,
  durables,
  type Owner,
  owners,
  streamName,
  streamSubjects,
  type View,
  views,
} from "@svc/proto";
import { bucketFilter, bucketStream } from "./key-value.ts";
import { liveStreamName } from "./names.ts";

/** The part of a stream's configuration that svc sets; durations in nanoseconds as the API has them. */
export type StreamConfig = Partial<JetStreamConfig> & Pick<JetStreamConfig, "name" | "subjects">;

const second = 1e9;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
// JetStream reserves what a stream may grow to, so all limits together must fit into its store (2.2 GB).
const mebibyte = 1_048_576;

const shared = { storage: "file", retention: "limits", discard: "old", allow_direct: true } as const;

/** All streams. `more` is what the catalog does not have, for tests. */
export function allStreams(more: readonly (Bucket | View)[] = []): StreamConfig[] {
  const kept = [...views, ...buckets, ...more];
  return [
    ...owners.flatMap(streamsOf),
    ...kept.map((one) => (one.type === "view" ? viewConfig(one) : bucketConfig(one))),
  ];
}

/** Streams of one owner: its events, its live lines and, for identity, the audit log of all services. */
function streamsOf(owner: Owner): StreamConfig[] {
  const events: StreamConfig = {
    ...shared,
    name: streamName(owner),
    subjects: streamSubjects(owner),
    duplicate_window: 10 * minute,
    max_age: 7 * day,
    max_bytes: 256 * mebibyte,
    description: `What happened in ${owner}, and the messages its consumers gave up.`,
  };
  const live: StreamConfig = {
    ...shared,
    name: liveStreamName(owner),
    subjects: [`svc.live.${owner}.>`],
    duplicate_window: second,
    max_age: hour,
    max_bytes: 64 * mebibyte,
    max_msgs_per_subject: 20_000,
    description: `Live lines of ${owner}, kept for an hour.`,
  };
  if (owner !== "identity") return [events, live];
  const audit: StreamConfig = {
    ...shared,
    name: auditStream.name,
    subjects: [...auditStream.subjects],
    duplicate_window: 10 * minute,
    max_age: 30 * day,
    max_bytes: 256 * mebibyte,
    description: "Audit entries on their way to the database.",
  };
  return [events, live, audit];
}

function viewConfig(view: View): StreamConfig {
  return {
    ...keyValue(view),
    max_bytes: 256 * mebibyte,
  };
}

function bucketConfig(bucket: Bucket): StreamConfig {
  return {
    ...keyValue(bucket),
    // JetStream reserves it at once; entries are tickets and sessions of a few hundred bytes.
    max_bytes: 16 * mebibyte,
    // Readers learn of an expiry as of any other removal.
    subject_delete_marker_ttl: 5 * minute,
    // The expiry marker is a rollup of its subject.
    allow_rollup_hdrs: true,
  };
}

function keyValue({ name, summary }: Pick<Bucket, "name" | "summary">): StreamConfig {
  return {
    name: bucketStream(name),
    subjects: [bucketFilter({ name })],
    description: summary,
    storage: "file",
    retention: "limits",
    discard: "new",
    max_age: 0,
    max_msgs_per_subject: 1,
    duplicate_window: 2 * minute,
    allow_direct: true,
    allow_rollup_hdrs: false,
    allow_msg_ttl: true,
    deny_delete: true,
  };
}

const ackWaitNs = 30 * second;

/** The configuration of a durable consumer. */
export function durableConfig({ name, subjects, inOrder = false }: Durable): Partial<ConsumerConfig> {
  const only = subjects.length === 1 ? subjects[0] : undefined;
  return {
    name,
    durable_name: name,
    ack_policy: "explicit",
    ack_wait: ackWaitNs,
    deliver_policy: "all",
    max_deliver: -1,
    max_ack_pending: inOrder ? 1 : 1_000,
    ...(only === undefined ? { filter_subjects: [...subjects] } : { filter_subject: only }),
  };
}

export { durables };
