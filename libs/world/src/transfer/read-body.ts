// Reads the body of a plain HTTP response into two halves of one buffer in turn: a turn of the event loop and fresh memory
// for every 64 KiB cost more than what is done with them.

import { connect, type Socket } from "node:net";
import { failed, type TransferTarget } from "./send.ts";

const chunkBytes = 1 << 20;
const longestHeadBytes = 65_536;
const endOfHead = "\r\n\r\n";

/**
 * The body behind a URL, in chunks of 1 MiB; the next one arrives while one is used, and the memory of a chunk is used
 * again once the next one is asked for. Throws `transfer_failed`, also for a body without a length or shorter than it.
 */
export async function* readBody({ url, token, stallMs, signal }: TransferTarget): AsyncGenerator<Buffer> {
  const receiver = createReceiver();
  const { hostname, port, pathname, search, host } = new URL(url);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || 80),
    onread: { buffer: receiver.space, callback: receiver.take },
  });
  const abort = () => socket.destroy(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  receiver.attach(socket, stallMs);
  try {
    const head = [
      `GET ${pathname}${search} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${token}`,
      "Connection: close",
    ];
    socket.write(head.join("\r\n") + endOfHead);
    for (let chunk = await receiver.next(); chunk; chunk = await receiver.next()) yield chunk;
  } finally {
    signal?.removeEventListener("abort", abort);
    socket.destroy();
  }
}

type Receiver = {
  attach: (socket: Socket, stallMs: number) => void;
  /** Where the socket puts what it reads next. */
  space: () => Buffer;
  /** Notes that the socket has read something there; false pauses it. */
  take: (bytes: number) => boolean;
  /** The next chunk; undefined at the end. The one before it is given back. */
  next: () => Promise<Buffer | undefined>;
};

function createReceiver(): Receiver {
  const memory = Buffer.allocUnsafeSlow(2 * chunkBytes);
  let [filling, other] = [memory.subarray(0, chunkBytes), memory.subarray(chunkBytes)];
  let filled = 0;
  /** Bytes of the body that have not arrived; undefined before its head has. */
  let left: number | undefined;
  let failure: Error | undefined;
  let [resume, wake] = [() => {}, () => {}];
  const isChunk = () => filled > 0 && (left === 0 || (left !== undefined && filled === chunkBytes));
  const fail = (reason: string) => {
    failure ??= failed(reason);
    wake();
  };
  const takeHead = () => {
    const head = readHead(filling.subarray(0, filled));
    if (head === undefined) return;
    if ("refusal" in head) return fail(head.refusal);
    filling.copyWithin(0, head.bytes, filled);
    filled -= head.bytes;
    left = head.length - filled;
  };
  return {
    attach: (socket, stallMs) => {
      resume = () => void socket.setTimeout(stallMs).resume();
      socket
        .setTimeout(stallMs)
        // While nobody takes a chunk nothing is read.
        .on("timeout", () => isChunk() || fail(`no progress for ${stallMs / 1_000} s`))
        .once("error", (error) => fail(error.message))
        .once("close", () => fail("the connection was closed"));
    },
    space: () => (isChunk() ? other : filling.subarray(filled)),
    take: (bytes) => {
      filled += bytes;
      if (left === undefined) takeHead();
      else left -= bytes;
      if (left !== undefined && left < 0) fail("the body is longer than its length");
      if (left === 0 || isChunk()) wake();
      return failure === undefined && !isChunk();
    },
    next: async () => {
      while (!isChunk()) {
        if (left === 0) return undefined;
        if (failure) throw failure;
        await new Promise<void>((settle) => {
          wake = settle;
        });
      }
      const chunk = filling.subarray(0, filled);
      [filling, other, filled] = [other, filling, 0];
      if (left !== 0) resume();
      return chunk;
    },
  };
}

type Head = { bytes: number; length: number } | { refusal: string };

/** Undefined until the head is whole. */
function readHead(read: Buffer): Head | undefined {
  const text = read.toString("latin1", 0, longestHeadBytes);
  const end = text.indexOf(endOfHead);
  if (end < 0) return text.length < longestHeadBytes ? undefined : { refusal: "the answer has no head" };
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1];
  if (status !== "200") return { refusal: `the internal face answered ${status ?? "no HTTP"}` };
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(text.slice(0, end + 2))?.[1];
  if (length === undefined) return { refusal: "the answer has no length" };
  return { bytes: end + endOfHead.length, length: Number(length) };
}
