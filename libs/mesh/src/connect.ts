// Opens the mesh: one connection, and everything of this library on top of it.

import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Owner, owners, type View } from "@svc/proto";
import { noTracing } from "@svc/telemetry";
import type { Mesh, MeshOptions } from "./api.ts";
import { openBucket } from "./bucket/open.ts";
import { type ByteTransferServer, startByteTransferServer } from "./byte-transfer/server.ts";
import { dial } from "./connection/dial.ts";
import { type Connection, createConnection } from "./connection/nats-connection.ts";
import type { Core } from "./core.ts";
import { createAuditing } from "./event/audit.ts";
import { type Consumer, startConsumer } from "./event/consume.ts";
import { readDeadLetters } from "./event/dead-letters.ts";
import { createLiveLogReader } from "./live-log/read.ts";
import { createLiveLogWriting } from "./live-log/write.ts";
import { createMeshMetrics } from "./metrics.ts";
import { discover } from "./operator/discover.ts";
import { followEvents } from "./operator/follow.ts";
import { readStreams } from "./operator/streams.ts";
import { createCalling } from "./request/call.ts";
import { announceReplica, createReplicas } from "./request/replicas.ts";
import { createServing } from "./request/serve.ts";
import { announce } from "./request/service-protocol.ts";
import { publishAll } from "./stream/publish.ts";
import { fitsFilter, isPublished } from "./stream/publisher.ts";
import { requireStreams } from "./stream/require.ts";
import { mirrorView } from "./view/mirror.ts";
import { writeView } from "./view/writer.ts";

const defaultDrainMs = 20_000;
const settleMs = 500;

function isOwner(service: string): service is Owner {
  return (owners as readonly string[]).includes(service);
}

/**
 * Connects to NATS, checks its version and that the streams of an owner exist. Tries until `options.signal` aborts.
 * Throws an Error with one sentence when NATS rejects the user, is too old, has no JetStream, or when
 * `svc migrate up` has not created the streams.
 */
export async function connectMesh(options: MeshOptions): Promise<Mesh> {
  const { service, log } = options;
  const client = await dial(options);
  const connection = createConnection(client, log, service);
  const closing = new AbortController();
  const core: Core = {
    service,
    instance: randomBytes(11).toString("hex"),
    version: options.version,
    connection,
    log,
    metrics: createMeshMetrics(options.registry, () => connection.status().reconnects),
    tracing: options.tracing ?? noTracing,
    keyed: (text) => createHmac("sha256", options.password).update(text).digest("base64url"),
    checksEncoded: options.checksEncoded === true,
    closing: closing.signal,
  };
  try {
    let byteTransferServer: ByteTransferServer | undefined;
    if (isOwner(service)) {
      await requireStreams(core, service);
      byteTransferServer = await startByteTransferServer({
        host: options.byteTransferHost ?? "127.0.0.1",
        log,
      });
    }
    return assemble(core, { closing, byteTransferServer });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

type Parts = { closing: AbortController; byteTransferServer: ByteTransferServer | undefined };
type Closeable = { close: () => Promise<void> };

function assemble(core: Core, { closing, byteTransferServer }: Parts): Mesh {
  const { connection, service } = core;
  const serving = createServing(core);
  const replicas = createReplicas(core);
  const auditing = createAuditing(core);
  const liveLogs = createLiveLogReader(core);
  const consumers: Consumer[] = [];
  const opened: Closeable[] = [liveLogs, ...(byteTransferServer ? [byteTransferServer] : [])];
  const withdrawals: (() => void)[] = [];

  const stopWork = async () => {
    for (const withdraw of withdrawals) withdraw();
    await Promise.all([serving.stop(), ...consumers.map((consumer) => consumer.stop())]);
    await Promise.all([serving.idle(), byteTransferServer?.idle()]);
    await auditing.idle();
    replicas.close();
  };
  return {
    service,
    serve: serving.serve,
    answerRepeats: (repeats) => {
      core.repeats = repeats;
    },
    announce: async () => {
      withdrawals.push(await announce(core, serving.endpoints));
      if (isOwner(service)) withdrawals.push(announceReplica(core));
    },
    ...createCalling(core, replicas),
    publish: (messages) => publishAll(core, messages),
    audit: auditing.audit,
    consume: async (options) => {
      const consumer = startConsumer(core, options);
      consumers.push(consumer);
      await consumer.started;
    },
    deadLetters: (owner) => readDeadLetters(connection, owner),
    streams: () => readStreams(connection),
    discover: (waitMs) => discover(core, waitMs),
    follow: (options) => {
      const reader = followEvents(core, options);
      opened.push(reader);
      return reader;
    },
    listen: (subject, onMessage) =>
      connection.subscribe(subject, (message) => {
        // Whoever may send NATS a request can direct its answer here.
        if (!isPublished(message.headers, "delivered") || !fitsFilter(subject, message.subject)) return;
        onMessage(message.subject, message.data);
      }).unsubscribe,
    writeView: async (view, options) => {
      const writer = await writeView(core, view, options);
      opened.push(writer);
      return writer;
    },
    mirrorView: (view) => {
      const mirror = mirrorView(core, view as View);
      opened.push(mirror);
      return mirror;
    },
    bucket: (declared) => openBucket(core, declared, opened),
    byteTransfers: byteTransferServer?.byteTransfers ?? noByteTransfers(service),
    ...createLiveLogWriting(core),
    readLiveLog: (ticket, signal) => liveLogs.read(ticket, signal),
    status: connection.status,
    drain: once((timeoutMs = defaultDrainMs) => drain(connection, { timeoutMs, closing, stopWork, opened })),
  };
}

function noByteTransfers(service: string): Mesh["byteTransfers"] {
  const refuse = () => {
    throw new Error(`${service} is not an owner and opens no byte transfers`);
  };
  return { download: refuse, upload: refuse };
}

function once(drainNow: (timeoutMs?: number) => Promise<void>): (timeoutMs?: number) => Promise<void> {
  let draining: Promise<void> | undefined;
  return (timeoutMs) => {
    draining ??= drainNow(timeoutMs);
    return draining;
  };
}

type Draining = {
  timeoutMs: number;
  closing: AbortController;
  stopWork: () => Promise<void>;
  opened: readonly Closeable[];
};

async function drain(
  connection: Connection,
  { timeoutMs, closing, stopWork, opened }: Draining,
): Promise<void> {
  const work = stopWork().catch(() => {});
  await within(work, timeoutMs);
  // Handlers that still run are aborted now, and get a moment to finish.
  closing.abort();
  await within(work, settleMs);
  await Promise.all(opened.map((part) => within(part.close(), settleMs)));
  if (connection.isConnected()) await within(connection.client.flush(), settleMs);
  await connection.close();
}

async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  const limit = new AbortController();
  const timeUp = delay(limitMs, undefined, { signal: limit.signal }).catch(() => {});
  await Promise.race([work.catch(() => {}), timeUp]);
  limit.abort();
}
