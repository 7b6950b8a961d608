// Large bodies on bare sockets: one buffer is written again and again, and what arrives is counted and dropped.

import { connect, type Socket } from "node:net";
import { requestText } from "./http.ts";

type Where = { port: number; path: string; headers: Record<string, string> };
export type UploadPlan = Where & {
  /** Bytes of the body, which repeats one random block. */
  block: Uint8Array;
  bytes: number;
};
export type ByteAnswer = { status: number; text: string; bytes: number };

const readBytes = 1 << 20;
const endOfHead = "\r\n\r\n";

/** Sends a body with `PUT` and reads the answer. */
export async function uploadBytes({ block, bytes, ...where }: UploadPlan): Promise<ByteAnswer> {
  const headers = { ...where.headers, "content-length": String(bytes) };
  const { socket, answer } = open({ ...where, headers }, "PUT");
  for (let left = bytes; left > 0; left -= block.length) {
    const piece = left < block.length ? block.subarray(0, left) : block;
    if (!socket.write(piece)) await Promise.race([drained(socket), answer]);
  }
  return answer;
}

/** Reads a body to its end; throws when it is shorter than its length. */
export function downloadBytes(where: Where): Promise<ByteAnswer> {
  return open(where, "GET").answer;
}

function drained(socket: Socket): Promise<void> {
  return new Promise((settle) => socket.once("drain", settle));
}

function open(where: Where, method: string): { socket: Socket; answer: Promise<ByteAnswer> } {
  const { promise: answer, resolve, reject } = Promise.withResolvers<ByteAnswer>();
  const reader = createReader();
  const host = "127.0.0.1";
  const socket = connect({
    host,
    port: where.port,
    // Every read goes into the same memory, so that the client costs next to nothing.
    onread: {
      buffer: Buffer.allocUnsafe(readBytes),
      callback: (length, buffer) => {
        reader.read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        if (reader.isComplete()) finish();
        return true;
      },
    },
  });
  const finish = () => {
    socket.destroy();
    const found = reader.answer();
    if (found) resolve(found);
    else reject(new Error(`${method} ${where.path}: the connection was closed too early`));
  };
  socket.once("error", reject).once("close", finish).setNoDelay();
  socket.write(requestText({ host, ...where, method, headers: { ...where.headers, connection: "close" } }));
  return { socket, answer };
}

/** Understands bodies with a length. */
function createReader() {
  let head = "";
  let length: number | undefined;
  let bytes = 0;
  let text = "";
  const body = (part: Buffer) => {
    bytes += part.length;
    if (text.length < 2_000) text += part.toString("latin1", 0, 2_000);
  };
  return {
    read: (chunk: Buffer) => {
      if (head.includes(endOfHead)) return body(chunk);
      const before = head.length;
      head += chunk.toString("latin1");
      const end = head.indexOf(endOfHead);
      if (end < 0) return;
      head = head.slice(0, end + endOfHead.length);
      const found = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      length = found === undefined ? undefined : Number(found);
      body(chunk.subarray(end + endOfHead.length - before));
    },
    isComplete: () => length !== undefined && bytes >= length,
    answer: (): ByteAnswer | undefined => {
      if (!head.includes(endOfHead) || bytes < (length ?? 0)) return undefined;
      return { status: Number(head.slice(9, 12)), text, bytes };
    },
  };
}
