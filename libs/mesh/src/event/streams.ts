// The JetStream streams of this installation. Each is made and kept in shape by its owner (architecture.md 3, events).

import { auditStream, type Owner, streamName, streamSubjects } from "@svc/proto";
import { apiCode, isApiCode, jetStreamApi } from "../connection/jetstream-api.ts";
import type { Link } from "../connection/link.ts";

/** The part of a stream's configuration that svc sets; durations in nanoseconds as the API has them. */
export type StreamConfig = {
  name: string;
  subjects: string[];
  storage: "file";
  retention: "limits";
  discard: "old" | "new";
  max_age: number;
  max_bytes: number;
  duplicate_window: number;
  max_msgs_per_subject?: number;
  allow_direct?: boolean;
  allow_rollup_hdrs?: boolean;
  allow_msg_ttl?: boolean;
  deny_delete?: boolean;
  description?: string;
};

export type StreamInfo = { config: StreamConfig; created: string };

const second = 1e9;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const mebibyte = 1_048_576;

const shared = { storage: "file", retention: "limits", discard: "old", allow_direct: true } as const;

/** The stream of live lines of an owner. */
export function liveStreamName(owner: Owner): string {
  return `${streamName(owner)}_LIVE`;
}

/** Streams that one owner is responsible for. */
export function streamsOf(owner: Owner): StreamConfig[] {
  const events: StreamConfig = {
    ...shared,
    name: streamName(owner),
    subjects: streamSubjects(owner),
    duplicate_window: 10 * minute,
    max_age: 7 * day,
    max_bytes: 1024 * mebibyte,
    description: `What happened in ${owner}, and the messages its consumers gave up.`,
  };
  const live: StreamConfig = {
    ...shared,
    name: liveStreamName(owner),
    subjects: [`svc.live.${owner}.>`],
    duplicate_window: second,
    max_age: hour,
    max_bytes: 512 * mebibyte,
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
    max_bytes: 1024 * mebibyte,
    description: "Audit entries on their way to the database.",
  };
  return [events, live, audit];
}

/** Makes the stream, or changes what differs; what JetStream cannot change later stays as it is. */
export async function ensureStream(link: Link, wanted: StreamConfig): Promise<StreamInfo> {
  try {
    return await jetStreamApi<StreamInfo>(link, `STREAM.CREATE.${wanted.name}`, wanted);
  } catch (error) {
    if (!isApiCode(error, apiCode.streamNameInUse)) throw error;
  }
  const existing = await jetStreamApi<StreamInfo>(link, `STREAM.INFO.${wanted.name}`);
  const { storage, retention } = existing.config;
  return jetStreamApi<StreamInfo>(link, `STREAM.UPDATE.${wanted.name}`, {
    ...existing.config,
    ...wanted,
    storage,
    retention,
  });
}
