// Uploads a body of unknown length with trailers, which undici cannot send.

import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ByteTransferTicket } from "@svc/proto";

const connectWithinMs = 5_000;
const answerWithinMs = 600_000;

type Chunked = {
  ticket: ByteTransferTicket;
  headers: Record<string, string>;
  /** Called when the body has ended. */
  trailerDigest: (() => string | undefined) | undefined;
};

/**
 * Sends the whole `body` and reads the answer. A body that fails breaks the connection, so that the owner never takes a
 * part for the whole. Rejects with the failure of the body or of the connection.
 */
export async function sendChunked(
  { ticket, headers, trailerDigest }: Chunked,
  body: Readable,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const outgoing = request(ticket.url, {
    method: "PUT",
    headers: { ...headers, authorization: `Bearer ${ticket.token}`, trailer: "Content-Digest" },
    agent: false,
    signal,
  });
  limitWaits(outgoing);
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  const sending = pipeline(body, outgoing, { end: false }).then(() => {
    const digest = trailerDigest?.();
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
    body.destroy();
  }
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
