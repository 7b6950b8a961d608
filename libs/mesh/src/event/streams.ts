// The JetStream streams of this installation. Each is made and kept in shape by its owner (architecture.md 3, events).

import { isDeepStrictEqual } from "node:util";
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
  /** How long the sign stays that a message went away because of its age. */
  subject_delete_marker_ttl?: number;
  description?: string;
};

export type StreamInfo = { config: StreamConfig; created: string };

const second = 1e9;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
// JetStream reserves what a stream may grow to, so all limits together must fit into its store (2.2 GB).
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

/**
 * Makes the stream, or changes what differs; what JetStream cannot change later stays as it is. It is looked up
 * first: asking to make one that exists fails for want of space when its reservation no longer fits twice.
 */
export async function ensureStream(link: Link, wanted: StreamConfig): Promise<StreamInfo> {
  const existing = await findStream(link, wanted.name);
  if (!existing) return jetStreamApi<StreamInfo>(link, `STREAM.CREATE.${wanted.name}`, wanted);
  const { storage, retention } = existing.config;
  const config = { ...existing.config, ...wanted, storage, retention };
  if (isDeepStrictEqual(config, existing.config)) return existing;
  return jetStreamApi<StreamInfo>(link, `STREAM.UPDATE.${wanted.name}`, config);
}

async function findStream(link: Link, name: string): Promise<StreamInfo | undefined> {
  try {
    return await jetStreamApi<StreamInfo>(link, `STREAM.INFO.${name}`);
  } catch (error) {
    if (isApiCode(error, apiCode.streamNotFound)) return undefined;
    throw error;
  }
}
