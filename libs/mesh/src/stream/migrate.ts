// Makes what JetStream keeps for this installation, or changes what differs, with a NATS user of its own. No service
// holds the right to: a consumer delivers, and a stream listens, wherever its maker says, without a look at permissions.

import { isDeepStrictEqual } from "node:util";
import type { Bucket, Durable, View } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import { dial } from "../connection/dial.ts";
import { type Connection, createConnection } from "../connection/nats-connection.ts";
import { allStreams, durableConfig, durables, type StreamConfig } from "./catalog.ts";
import { findStream } from "./info.ts";
import { apiCode, isApiCode, jetStreamApi } from "./jetstream-api.ts";

export type MigrateOptions = {
  url: string;
  user: string;
  password: string;
  signal?: AbortSignal;
  /** What the catalog does not have, for tests and benches. */
  more?: readonly (Bucket | View)[];
  moreDurables?: readonly Durable[];
};

/** Names what was made or changed; nothing when all of it was there. Throws an Error with one sentence. */
export async function migrateStreams(options: MigrateOptions): Promise<string[]> {
  const log = createLogger("migrate", "warn");
  const client = await dial({ ...options, service: "migrate", log });
  const connection = createConnection(client, log, "migrate");
  try {
    const done: string[] = [];
    for (const config of allStreams(options.more)) {
      const what = await ensureStream(connection, config);
      if (what) done.push(`stream ${config.name}: ${what}`);
    }
    for (const durable of [...durables, ...(options.moreDurables ?? [])]) {
      const what = await ensureDurable(connection, durable);
      if (what) done.push(`consumer ${durable.name} of ${durable.stream}: ${what}`);
    }
    return done;
  } finally {
    await connection.close();
  }
}

type Done = "made" | "changed" | undefined;

/**
 * What JetStream cannot change later stays as it is. The stream is looked up first: asking to make one that exists
 * fails for want of space when its reservation no longer fits twice.
 */
async function ensureStream(connection: Connection, wanted: StreamConfig): Promise<Done> {
  const existing = await findStream(connection, wanted.name);
  if (!existing) {
    await jetStreamApi(connection, `STREAM.CREATE.${wanted.name}`, wanted);
    return "made";
  }
  const { storage, retention } = existing.config;
  const config = { ...existing.config, ...wanted, storage, retention };
  // A setting that is off is left out of what the server tells.
  if (isDeepStrictEqual(withoutOff(config), withoutOff(existing.config))) return undefined;
  await jetStreamApi(connection, `STREAM.UPDATE.${wanted.name}`, config);
  return "changed";
}

function withoutOff(config: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== false && value !== 0));
}

type ConsumerInfo = { config: Record<string, unknown> };

async function ensureDurable(connection: Connection, durable: Durable): Promise<Done> {
  const wanted = durableConfig(durable);
  const existing = await findDurable(connection, durable);
  const isSame =
    existing !== undefined &&
    Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(existing.config[name], value));
  if (isSame) return undefined;
  const [only] = durable.subjects.length === 1 ? durable.subjects : [];
  await jetStreamApi(
    connection,
    `CONSUMER.CREATE.${durable.stream}.${durable.name}${only === undefined ? "" : `.${only}`}`,
    { stream_name: durable.stream, config: { ...existing?.config, ...wanted } },
  );
  return existing ? "changed" : "made";
}

async function findDurable(
  connection: Connection,
  { stream, name }: Durable,
): Promise<ConsumerInfo | undefined> {
  try {
    return await jetStreamApi<ConsumerInfo>(connection, `CONSUMER.INFO.${stream}.${name}`);
  } catch (error) {
    if (isApiCode(error, apiCode.consumerNotFound)) return undefined;
    throw error;
  }
}
