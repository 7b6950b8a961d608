// Makes the streams and consumers of this installation, or changes what differs, with a NATS user of its own. Services
// may not: a consumer delivers, and a stream listens, wherever its maker says, whatever the maker's permissions are.

import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
} from "@nats-io/jetstream";
import { errors, type NatsConnection } from "@nats-io/transport-node";
import type { Bucket, Durable, View } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { dial } from "../connection/dial.ts";
import { allStreams, durableConfig, durables, type StreamConfig } from "./catalog.ts";

type MigrateOptions = {
  url: string;
  user: string;
  password: string;
  /** How many servers store each stream; undefined: as many as do, one for a new stream. */
  replicas?: number | undefined;
  signal?: AbortSignal;
  /** What the catalog does not have, for tests and benches. */
  more?: readonly (Bucket | View)[];
  moreDurables?: readonly Durable[];
};

/**
 * Deletes every stream and makes all anew, as after a restore of the database: what they hold is of another past. Consumers and
 * the memory of message ids go with them. Throws an Error with one sentence; it can be repeated.
 */
export async function resetStreams(options: MigrateOptions): Promise<void> {
  const log = createLogger("migrate", "warn");
  const client = await dial({ ...options, service: "migrate", log });
  try {
    const { streams } = await jetstreamManager(client, { checkAPI: false });
    for (const { name } of allStreams(options.more)) await findOrUndefined(streams.delete(name));
  } finally {
    await client.close();
  }
  await migrateStreams(options);
}

/** Names what was made or changed; nothing when all of it was there. Throws an Error with one sentence. */
export async function migrateStreams(options: MigrateOptions): Promise<string[]> {
  const { replicas } = options;
  const log = createLogger("migrate", "warn");
  const client = await dial({ ...options, service: "migrate", log });
  try {
    // `dial` has checked JetStream.
    const manager = await jetstreamManager(client, { checkAPI: false });
    const done: string[] = [];
    for (const config of allStreams(options.more)) {
      const wanted = { ...config, ...(replicas && { num_replicas: replicas }) };
      const what = await onceElected(client, options.signal, () => ensureStream(manager, wanted));
      if (what) done.push(`stream ${config.name}: ${what}`);
    }
    for (const durable of [...durables, ...(options.moreDurables ?? [])]) {
      const what = await onceElected(client, options.signal, () => ensureDurable(manager, durable));
      if (what) done.push(`consumer ${durable.name} of ${durable.stream}: ${what}`);
    }
    return done;
  } finally {
    await client.close();
  }
}

const electedWithinMs = 30_000;
const retryMs = 250;
/** "no suitable peers for placement": servers that started just now do not know each other yet. */
const noPeers = 10_005;

/** Servers of a cluster elect a leader, for all and for each stream, before they can do anything. */
async function onceElected<T>(
  client: NatsConnection,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const until = Date.now() + electedWithinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isCluster = client.info?.cluster !== undefined;
      if (!isCluster || !isElecting(error) || signal?.aborted || Date.now() > until) throw error;
      await delay(retryMs);
    }
  }
}

function isElecting(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.status === 503 || error.code === noPeers;
  return error instanceof errors.TimeoutError || error instanceof errors.RequestError;
}

type Done = "made" | "changed" | undefined;

/**
 * What JetStream cannot change later stays as it is. The stream is looked up first: asking to make one that exists
 * fails for lack of space when its reservation does not fit twice.
 */
async function ensureStream({ streams }: JetStreamManager, wanted: StreamConfig): Promise<Done> {
  const existing = await findOrUndefined(streams.info(wanted.name));
  if (!existing) {
    await streams.add(wanted);
    return "made";
  }
  const { storage, retention } = existing.config;
  const config = { ...existing.config, ...wanted, storage, retention };
  // The server omits settings that are off.
  if (isDeepStrictEqual(withoutOff(config), withoutOff(existing.config))) return undefined;
  await streams.update(wanted.name, config);
  return "changed";
}

function withoutOff(config: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== false && value !== 0));
}

async function ensureDurable({ consumers }: JetStreamManager, durable: Durable): Promise<Done> {
  const { name, stream } = durable;
  const wanted = durableConfig(durable);
  const existing = await findOrUndefined(consumers.info(stream, name));
  if (!existing) {
    await consumers.add(stream, wanted);
    return "made";
  }
  const config: object = { ...existing.config, ...wanted };
  if (isDeepStrictEqual(config, existing.config)) return undefined;
  await consumers.update(stream, name, wanted);
  return "changed";
}

async function findOrUndefined<T>(lookUp: Promise<T>): Promise<T | undefined> {
  try {
    return await lookUp;
  } catch (error) {
    const { StreamNotFound, ConsumerNotFound } = JetStreamApiCodes;
    const code = error instanceof JetStreamApiError ? error.code : 0;
    if (code === StreamNotFound || code === ConsumerNotFound) return undefined;
    throw error;
  }
}
