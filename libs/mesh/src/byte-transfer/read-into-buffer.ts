// Reads a download of known length into one buffer, again and again: fresh memory for each chunk costs more than
// everything else that a gateway does with it.

import { connect } from "node:net";
import type { ByteTransferTicket } from "@svc/proto";

const bufferBytes = 1_048_576;
const longestHeadBytes = 65_536;
const endOfHead = "\r\n\r\n";

/** Takes a chunk, whose memory is used again once the promise has resolved. */
export type ChunkWriter = (chunk: Buffer) => Promise<void>;

type Limits = { connectMs: number; firstByteMs: number; stallMs: number };
type Head = { status: number; rest: Buffer };
type OpenedDownload = {
  status: number;
  /** Delivers the body until the connection ends. Rejects when it breaks, or with what `write` rejects with. */
  deliver: (write: ChunkWriter) => Promise<void>;
};

/** Opens the download of a ticket; call `deliver` in any case. Rejects with the reason of `signal`. */
export async function openIntoBuffer(
  ticket: ByteTransferTicket,
  limits: Limits,
  signal: AbortSignal,
): Promise<OpenedDownload> {
  signal.throwIfAborted();
  const url = new URL(ticket.url);
  const head = Promise.withResolvers<Head>();
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {});
  let write: ChunkWriter | undefined;
  const readHead = createHeadReader();
  const socket = connect({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port),
    onread: {
      buffer: Buffer.allocUnsafeSlow(bufferBytes),
      callback: (length, buffer) => {
        const chunk = (buffer as Buffer).subarray(0, length);
        if (write) {
          pauseWhile(write(chunk));
          return false;
        }
        const found = readHead(chunk);
        if (found) head.resolve(found);
        return found === undefined;
      },
    },
  });
  const pauseWhile = (busy: Promise<void>) => {
    socket.setTimeout(0);
    busy.then(
      () => socket.setTimeout(limits.stallMs).resume(),
      (error: Error) => socket.destroy(error),
    );
  };
  const fail = (error: Error) => {
    head.reject(error);
    ended.reject(error);
  };
  const abort = () => socket.destroy(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  socket
    .setTimeout(limits.connectMs, () => socket.destroy(new Error("the byte transfer port does not respond")))
    .once("connect", () => socket.setTimeout(limits.firstByteMs))
    .once("error", fail)
    .once("end", () => ended.resolve())
    .once("close", () => {
      signal.removeEventListener("abort", abort);
      fail(new Error("the byte transfer port closed the connection"));
    });
  // Of HTTP 1.0 the body comes in one piece and ends with the connection.
  socket.write(
    `GET ${url.pathname} HTTP/1.0\r\nHost: ${url.host}\r\nAuthorization: Bearer ${ticket.token}${endOfHead}`,
  );
  const { status, rest } = await head.promise;
  return {
    status,
    deliver: (given) => {
      write = given;
      pauseWhile(rest.length > 0 ? given(rest) : Promise.resolve());
      return ended.promise.finally(() => socket.destroy());
    },
  };
}

/** Collects the head; gives it back, and what came behind it, once it is whole. */
function createHeadReader(): (chunk: Buffer) => Head | undefined {
  let text = "";
  return (chunk) => {
    text += chunk.toString("latin1");
    const end = text.indexOf(endOfHead);
    if (end < 0 && text.length < longestHeadBytes) return undefined;
    return {
      // What is not HTTP is refused as an unknown status.
      status: /^HTTP\/1\.[01] (\d{3}) /.test(text) && end > 0 ? Number(text.slice(9, 12)) : 0,
      rest: Buffer.from(text.slice(end + endOfHead.length), "latin1"),
    };
  };
}
