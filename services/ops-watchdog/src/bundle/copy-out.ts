// COPY … TO STDOUT as a stream of bytes. The driver would make an object of each row; here the messages of the connection are
// taken apart in place, one chunk for each that the socket delivers.

import { Readable } from "node:stream";
import type pg from "pg";

type DataListener = (chunk: Buffer) => void;
/** What of the driver's connection is used. */
type Connection = { stream: NodeJS.ReadableStream; query: (text: string) => void };

const copyData = 0x64;
const copyDone = 0x63;
const copyOutResponse = 0x48;
const headBytes = 5;
/** Messages that the server may send at any time: notice, changed parameter, notification. */
const anytime = new Set([0x4e, 0x53, 0x41]);

type CopyOut = {
  rows: Readable;
  /** Rows, after the end of `rows`; throws when the server sent another number than came. */
  count: () => number;
};

/** Runs one COPY on a client that does nothing else meanwhile. An error of the server ends `rows` with it. */
export function copyOut(client: pg.Client, text: string): CopyOut {
  let socket: NodeJS.ReadableStream | undefined;
  let counted: number | undefined;
  let seen = 0;
  const rows = new Readable({ read: () => void socket?.resume() });
  const query = {
    submit(connection: Connection) {
      socket = connection.stream;
      takeOver(socket, {
        rows,
        onRow: () => {
          seen += 1;
        },
      });
      connection.query(text);
    },
    handleError: (error: Error) => void rows.destroy(error),
    handleCommandComplete: ({ text: tag }: { text: string }) => {
      counted = Number(/^COPY (\d+)$/.exec(tag)?.[1]);
    },
    handleReadyForQuery: () => void rows.push(null),
  };
  client.query(query as unknown as pg.Submittable);
  return {
    rows,
    count: () => {
      if (counted !== seen)
        throw new Error(`the server sent ${counted ?? "an unknown number of"} rows, ${seen} came`);
      return seen;
    },
  };
}

/** Reads the rows from the socket and gives everything else back to the driver. */
function takeOver(
  socket: NodeJS.ReadableStream,
  { rows, onRow }: { rows: Readable; onRow: () => void },
): void {
  const listeners = socket.listeners("data") as DataListener[];
  socket.removeAllListeners("data");
  let rest: Buffer = Buffer.alloc(0);
  /** Bytes of the current row that have not come yet. */
  let missing = 0;
  const giveBack = (left: Buffer) => {
    socket.removeListener("data", onData);
    for (const listener of listeners) socket.on("data", listener);
    socket.resume();
    for (const listener of listeners) listener(left);
  };
  const onData = (chunk: Buffer) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const out = Buffer.allocUnsafe(bytes.length);
    let written = 0;
    let at = 0;
    const take = (length: number) => {
      const taken = Math.min(length, bytes.length - at);
      bytes.copy(out, written, at, at + taken);
      written += taken;
      at += taken;
      missing = length - taken;
    };
    if (missing > 0) take(missing);
    rest = Buffer.alloc(0);
    let left: Buffer | undefined;
    while (at < bytes.length) {
      if (bytes.length - at < headBytes) {
        rest = bytes.subarray(at);
        break;
      }
      const kind = bytes.readUInt8(at);
      const length = bytes.readUInt32BE(at + 1) + 1;
      if (kind === copyData) {
        at += headBytes;
        onRow();
        take(length - headBytes);
      } else if (kind === copyDone || kind === copyOutResponse || anytime.has(kind)) {
        if (bytes.length - at < length) {
          rest = bytes.subarray(at);
          break;
        }
        if (anytime.has(kind)) for (const listener of listeners) listener(bytes.subarray(at, at + length));
        at += length;
      } else {
        left = bytes.subarray(at);
        break;
      }
    }
    if (written > 0 && !rows.push(out.subarray(0, written))) socket.pause();
    if (left) giveBack(left);
  };
  socket.on("data", onData);
}
