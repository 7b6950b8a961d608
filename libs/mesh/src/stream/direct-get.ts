// Reads stored messages in batches by `$JS.API.DIRECT.GET`: no consumer is needed, so no permission to create one.

import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import type { Connection, Listening } from "../connection/nats-connection.ts";
import { randomToken } from "../connection/random-token.ts";
import { encodeJson } from "../json.ts";
import { isPublished } from "./publisher.ts";

export type StreamMessage = {
  subject: string;
  /** A view into the receive buffer: copy what is kept. */
  body: Uint8Array;
  headers: MsgHdrs | undefined;
  sequence: number;
  timestampNs: bigint;
  /** False: an answer of NATS that somebody directed to this subject. */
  isPublished: boolean;
};

type ReadFrom = {
  /** A sequence from 1 on, or an RFC 3339 time. */
  from: number | string;
  /** Only messages of this subject filter; all of the stream without one. */
  filter?: string | undefined;
};

export type BatchReader = {
  /**
   * Passes one batch to `onMessage`; returns how many there were and whether more follow. Rejects when the stream does
   * not exist or the answer stalls.
   */
  read: (from: ReadFrom, onMessage: (message: StreamMessage) => void) => Promise<Batch>;
  close: () => void;
};
type Batch = { count: number; isLast: boolean };

const batchLimit = 1_000;
const batchBytes = 4_194_304;
const stallMs = 5_000;

type Reading = {
  token: string;
  count: number;
  onMessage: (message: StreamMessage) => void;
  end: (result: Batch | Error) => void;
  received: () => void;
};

/** One batch at a time. */
export function openBatches(connection: Connection, stream: string): BatchReader {
  const inbox = `${connection.inboxPrefix}.${randomToken()}`;
  let reading: Reading | undefined;
  let isClosed = false;
  const listening: Listening = connection.subscribe(`${inbox}.*`, (message) => {
    if (reading && message.subject.endsWith(reading.token)) take(reading, message);
  });
  return {
    read: ({ from, filter }, onMessage) =>
      new Promise((resolve, reject) => {
        if (isClosed) {
          reject(new Error("closed"));
          return;
        }
        const token = randomToken();
        const late = setTimeout(() => reading?.end(new Error(`${stream} does not answer`)), stallMs);
        reading = {
          token,
          count: 0,
          onMessage,
          received: () => void late.refresh(),
          end: (result) => {
            clearTimeout(late);
            reading = undefined;
            if (result instanceof Error) reject(result);
            else resolve(result);
          },
        };
        const place = typeof from === "number" ? { seq: from } : { start_time: from };
        const only = filter === undefined ? {} : { next_by_subj: filter };
        const body = encodeJson({ ...place, ...only, batch: batchLimit, max_bytes: batchBytes });
        try {
          connection.publish(`$JS.API.DIRECT.GET.${stream}`, body, { reply: `${inbox}.${token}` });
        } catch (error) {
          reading.end(error as Error);
        }
      }),
    close: () => {
      isClosed = true;
      listening.unsubscribe();
      reading?.end(new Error("closed"));
    },
  };
}

function take(reading: Reading, message: Msg): void {
  const { headers } = message;
  reading.received();
  const code = headers?.code ?? 0;
  if (code !== 0 || !headers) {
    reading.end(endOf(reading, message));
    return;
  }
  reading.count += 1;
  reading.onMessage({
    // The last header of each name is the server's: it appends them to those of the publisher.
    subject: lastOf(headers, "Nats-Subject"),
    body: message.data,
    headers,
    sequence: Number(lastOf(headers, "Nats-Sequence")),
    timestampNs: nanosOf(lastOf(headers, "Nats-Time-Stamp")),
    isPublished: isPublished(headers, "read"),
  });
}

function endOf({ count }: Reading, { headers }: Msg): Batch | Error {
  if (headers?.code === 204) return { count, isLast: Number(headers.get("Nats-Num-Pending")) === 0 };
  if (headers?.code === 404) return { count, isLast: true };
  return new Error(`the stream cannot be read: ${headers?.code} ${headers?.description ?? "no headers"}`);
}

function lastOf(headers: MsgHdrs, name: string): string {
  return headers.values(name).at(-1) ?? "";
}

/** Nanoseconds since 1970 of an RFC 3339 time with up to nine places. */
export function nanosOf(time: string): bigint {
  const [, fraction = ""] = /\.(\d+)/.exec(time) ?? [];
  const wholeMs = Math.floor(Date.parse(time) / 1_000) * 1_000;
  return BigInt(wholeMs) * 1_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}

/** RFC 3339 with nine places, of nanoseconds since 1970. */
export function timeOf(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, "0")}Z`;
}
