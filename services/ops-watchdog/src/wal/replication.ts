// The streaming replication protocol of PostgreSQL over the ordinary driver.

import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import pg from "pg";
import { formatLsn, parseLsn } from "./lsn.ts";

/** What of the driver's connection is used. */
type Connection = {
  stream: NodeJS.ReadableStream;
  query: (text: string) => void;
  sendCopyFromChunk: (bytes: Buffer) => void;
};

export type Identity = { system: string; timeline: number; position: bigint };

export async function connectReplication(url: string): Promise<pg.Client> {
  const config = { connectionString: url, replication: "true", application_name: "svc-wal", keepAlive: true };
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

export async function identify(client: pg.Client): Promise<Identity> {
  const { rows } = await client.query<{ systemid: string; timeline: string; xlogpos: string }>(
    "IDENTIFY_SYSTEM",
  );
  const [about] = rows;
  if (!about) throw new Error("the database does not say which one it is");
  return {
    system: String(about.systemid),
    timeline: Number(about.timeline),
    position: parseLsn(about.xlogpos),
  };
}

/** One command whose answer is read message by message; each is called while the bytes are valid. */
function submit(
  client: pg.Client,
  text: string,
  on: {
    begin: (connection: Connection) => void;
    row?: (fields: (string | null)[]) => void;
    data: (bytes: Buffer) => void;
    end: (error?: Error) => void;
  },
): void {
  const nothing = () => undefined;
  const query = {
    submit: (connection: Connection) => {
      on.begin(connection);
      connection.query(text);
    },
    handleRowDescription: nothing,
    handleDataRow: ({ fields }: { fields: (string | null)[] }) => on.row?.(fields),
    handleCommandComplete: nothing,
    handleCopyInResponse: nothing,
    handleCopyData: ({ chunk }: { chunk: Buffer }) => on.data(chunk),
    handleEmptyQuery: nothing,
    handlePortalSuspended: nothing,
    handleError: (error: Error) => on.end(error),
    handleReadyForQuery: () => on.end(),
  };
  client.query(query as unknown as pg.Submittable);
}

type BaseStream = {
  /** The data folder as a tar. */
  tar: Readable;
  /** After the end of `tar`: where it begins and ends in the log, and the manifest of the server. */
  about: () => { start: bigint; stop: bigint; timeline: number; manifest: Buffer };
};

/** Starts a base backup; an error of the server ends `tar` with it. */
export function streamBase(client: pg.Client, label: string): BaseStream {
  let connection: Connection | undefined;
  const rows: (string | null)[][] = [];
  const manifest: Buffer[] = [];
  const tar = new Readable({
    read: () => void connection?.stream.resume(),
    destroy: (error, done) => {
      connection?.stream.resume();
      done(error);
    },
  });
  client.once("end", () => tar.destroy(new Error("the connection to the database was lost")));
  const text = `BASE_BACKUP (LABEL '${label}', CHECKPOINT 'fast', WAL false, WAIT false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`;
  submit(client, text, {
    begin: (one) => {
      connection = one;
    },
    row: (fields) => void rows.push(fields),
    data: (bytes) => {
      const body = () => Buffer.from(bytes.subarray(1));
      if (bytes[0] === 0x6d) manifest.push(body());
      else if (bytes[0] === 0x64 && manifest.length > 0) manifest.push(body());
      else if (bytes[0] === 0x64 && !tar.push(body())) connection?.stream.pause();
    },
    end: (error) => void (error ? tar.destroy(error) : tar.push(null)),
  });
  return {
    tar,
    about: () => {
      const [first, last] = [rows.at(0), rows.at(-1)];
      const timeline = Number(first?.[1]);
      if (!first?.[0] || !last?.[0] || rows.length < 3 || Number(last[1]) !== timeline)
        throw new Error("the server did not say where the base backup begins and ends");
      return {
        start: parseLsn(first[0]),
        stop: parseLsn(last[0]),
        timeline,
        manifest: Buffer.concat(manifest),
      };
    },
  };
}

type WalMessage = {
  /** Absent in a message that only says that the server is there. */
  data?: { at: bigint; bytes: Buffer };
};

type WalStream = {
  messages: Readable & AsyncIterable<WalMessage>;
  /** Tells the server what is on our disk; it answers when asked to. */
  acknowledge: (flushed: bigint, wantsReply: boolean) => void;
};

const epochMs = Date.UTC(2000, 0, 1);
/** Messages that wait before the server has to. */
const waiting = 64;

/**
 * The server keeps what this connection has not received yet, also when a base backup makes it clear away: on a quiet server
 * its checkpoint is done before the receiver has the end of a segment. The slot goes with the connection.
 */
export async function reserveLog(client: pg.Client): Promise<string> {
  const slot = `svc_wal_${randomBytes(6).toString("hex")}`;
  await client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY PHYSICAL (RESERVE_WAL true)`);
  return slot;
}

export function streamWal(
  client: pg.Client,
  from: { position: bigint; timeline: number; slot: string },
): WalStream {
  let connection: Connection | undefined;
  const messages = new Readable({
    objectMode: true,
    highWaterMark: waiting,
    read: () => void connection?.stream.resume(),
  });
  client.once("end", () => messages.destroy(new Error("the connection to the database was lost")));
  const { position, timeline, slot } = from;
  const text = `START_REPLICATION SLOT ${slot} PHYSICAL ${formatLsn(position)} TIMELINE ${timeline}`;
  submit(client, text, {
    begin: (one) => {
      connection = one;
    },
    data: (bytes) => {
      const message = readMessage(bytes);
      if (message && !messages.push(message)) connection?.stream.pause();
    },
    end: (error) => void messages.destroy(error ?? new Error("the server ended the stream of its log")),
  });
  return {
    messages: messages as WalStream["messages"],
    acknowledge: (flushed, wantsReply) => connection?.sendCopyFromChunk(statusUpdate(flushed, wantsReply)),
  };
}

function readMessage(bytes: Buffer): WalMessage | undefined {
  // The buffer of the driver is written over.
  if (bytes[0] === 0x77)
    return { data: { at: bytes.readBigUInt64BE(1), bytes: Buffer.from(bytes.subarray(25)) } };
  if (bytes[0] === 0x6b) return {};
  return undefined;
}

function statusUpdate(flushed: bigint, wantsReply: boolean): Buffer {
  const bytes = Buffer.alloc(34);
  bytes.write("r", 0, "latin1");
  for (const at of [1, 9]) bytes.writeBigUInt64BE(flushed, at);
  bytes.writeBigInt64BE(BigInt(Date.now() - epochMs) * 1_000n, 25);
  bytes.writeUInt8(wantsReply ? 1 : 0, 33);
  return bytes;
}
