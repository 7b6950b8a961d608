// COPY … TO STDOUT as a stream of bytes. The driver would make an object of each row; here the messages of the connection are
// taken apart in place and their rows put together in blocks.

import { Readable } from "node:stream";
import { releaseChunk } from "@svc/mesh";
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

/** Bytes of rows that come at once; the last of a table are fewer. */
const blockBytes = 256 * 1024;

type CopyOut = {
  /** Blocks of bytes. Each is freed, and empty, when the next one is asked for. */
  rows: AsyncGenerator<Buffer>;
  /** Rows, after the end of `rows`; throws when the server sent another number than came. */
  count: () => number;
};

/** Runs one COPY on a client that does nothing else meanwhile. An error of the server ends `rows` with it. */
export function copyOut(client: pg.Client, text: string): CopyOut {
  let socket: NodeJS.ReadableStream | undefined;
  let counted: number | undefined;
  let seen = 0;
  const blocks = new Readable({ highWaterMark: 4 * blockBytes, read: () => void socket?.resume() });
  // Whoever reads them hears of it.
  blocks.on("error", () => undefined);
  const query = {
    submit(connection: Connection) {
      socket = connection.stream;
      takeOver(socket, {
        blocks,
        onRow: () => {
          seen += 1;
        },
      });
      connection.query(text);
    },
    handleError: (error: Error) => void blocks.destroy(error),
    handleCommandComplete: ({ text: tag }: { text: string }) => {
      counted = Number(/^COPY (\d+)$/.exec(tag)?.[1]);
    },
    handleReadyForQuery: () => void blocks.push(null),
  };
  client.query(query as unknown as pg.Submittable);
  return {
    rows: releaseBlocks(blocks),
    count: () => {
      if (counted !== seen)
        throw new Error(`the server sent ${counted ?? "an unknown number of"} rows, ${seen} came`);
      return seen;
    },
  };
}

async function* releaseBlocks(blocks: Readable): AsyncGenerator<Buffer> {
  for await (const block of blocks as AsyncIterable<Buffer>) {
    yield block;
    (block.buffer as ArrayBuffer).transfer(0);
  }
}

/** Reads the rows from the socket and gives everything else back to the driver. */
function takeOver(
  socket: NodeJS.ReadableStream,
  { blocks, onRow }: { blocks: Readable; onRow: () => void },
): void {
  const listeners = socket.listeners("data") as DataListener[];
  socket.removeAllListeners("data");
  const collected = collectBlocks(blocks);
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
    let at = 0;
    const take = (length: number) => {
      const taken = Math.min(length, bytes.length - at);
      collected.add(bytes, at, at + taken);
      at += taken;
      missing = length - taken;
    };
    if (missing > 0) take(missing);
    rest = Buffer.alloc(0);
    let left: Buffer | undefined;
    while (at < bytes.length) {
      if (bytes.length - at < headBytes) {
        rest = Buffer.from(bytes.subarray(at));
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
          rest = Buffer.from(bytes.subarray(at));
          break;
        }
        if (anytime.has(kind))
          for (const listener of listeners) listener(Buffer.from(bytes.subarray(at, at + length)));
        at += length;
      } else {
        left = Buffer.from(bytes.subarray(at));
        break;
      }
    }
    // All that is kept of it was copied.
    releaseChunk(chunk);
    if (left) collected.flush();
    if (collected.isFull()) socket.pause();
    if (left) giveBack(left);
  };
  socket.on("data", onData);
}

/** Makes large blocks of rows: the socket delivers as little as 8 KiB at once, and what packs them takes a turn for each. */
function collectBlocks(blocks: Readable) {
  let block: Buffer | undefined;
  let filled = 0;
  let isFull = false;
  const flush = () => {
    if (block && filled > 0) isFull = !blocks.push(block.subarray(0, filled));
    block = undefined;
    filled = 0;
  };
  return {
    add(bytes: Buffer, from: number, end: number): void {
      for (let at = from; at < end; ) {
        block ??= Buffer.allocUnsafeSlow(blockBytes);
        const copied = bytes.copy(block, filled, at, end);
        at += copied;
        filled += copied;
        if (filled === blockBytes) flush();
      }
    },
    flush,
    /** Since it was asked last. */
    isFull(): boolean {
      const was = isFull;
      isFull = false;
      return was;
    },
  };
}
