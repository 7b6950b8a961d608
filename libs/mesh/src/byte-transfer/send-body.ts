// Sends a body to the owner's byte transfer port, at the owner's pace.

import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { ByteTransferTicket } from "@svc/proto";
import type { UploadHead } from "../api.ts";
import { written } from "./written.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { request } = process.getBuiltinModule("node:http");

const connectWithinMs = 5_000;
/** The owner answers when it has verified and stored everything, which may take long. */
const answerWithinMs = 600_000;

type Sending = {
  body: AsyncIterable<Uint8Array>;
  head: Partial<UploadHead>;
  /** How long the owner may read nothing. */
  stallMs: number;
  signal?: AbortSignal | undefined;
};

/**
 * Sends the whole body and reads the answer. A body that fails breaks the connection, so that the owner never takes a
 * part for the whole. Rejects with the failure of the body or of the connection.
 */
export async function sendBody(
  ticket: ByteTransferTicket,
  { body, head, stallMs, signal }: Sending,
): Promise<{ status: number; text: string }> {
  const outgoing = request(ticket.url, {
    method: "PUT",
    headers: headersOf(ticket, head),
    agent: false,
    ...(signal && { signal }),
  });
  limitWaits(outgoing);
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  const chunks = body[Symbol.asyncIterator]();
  const sending = writeAll(outgoing, chunks, stallMs).then(() => {
    const digest = head.contentLength === undefined ? head.trailerDigest?.() : undefined;
    if (digest !== undefined) outgoing.addTrailers({ "Content-Digest": digest });
    outgoing.end();
  });
  // Whichever fails second has nobody left to report to.
  for (const one of [answered, sending]) one.catch(() => {});
  try {
    // An owner that rejects the body answers before it has ended.
    const [response] = await Promise.race([answered, sending.then(() => answered)]);
    return { status: response.statusCode ?? 0, text: await textOf(response) };
  } finally {
    outgoing.destroy();
    // It may be waiting for a chunk, so this is not awaited.
    chunks.return?.().catch(() => {});
  }
}

function headersOf({ token }: ByteTransferTicket, head: Partial<UploadHead>): Record<string, string> {
  return {
    // An owner that answered before the end would reset a connection that is not kept, and with it its answer.
    connection: "keep-alive",
    authorization: `Bearer ${token}`,
    ...(head.contentDigest !== undefined && { "content-digest": head.contentDigest }),
    ...(head.contentLength === undefined
      ? { trailer: "Content-Digest" }
      : { "content-length": String(head.contentLength) }),
  };
}

async function writeAll(
  outgoing: ClientRequest,
  chunks: AsyncIterator<Uint8Array>,
  stallMs: number,
): Promise<void> {
  const onStall = () => outgoing.destroy(new Error("the byte transfer port stopped reading"));
  for (let next = await chunks.next(); !next.done; next = await chunks.next())
    await written(outgoing, next.value, { stallMs, onStall });
}

function limitWaits(outgoing: ClientRequest): void {
  const giveUp = (what: string) => () => outgoing.destroy(new Error(`the byte transfer port ${what}`));
  const connecting = setTimeout(giveUp("cannot be reached"), connectWithinMs);
  const done = () => clearTimeout(connecting);
  outgoing.once("socket", (socket) => (socket.connecting ? socket.once("connect", done) : done()));
  outgoing.once("close", done);
  outgoing.setTimeout(answerWithinMs, giveUp("gives no answer"));
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
