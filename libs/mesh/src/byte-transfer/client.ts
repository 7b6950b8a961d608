// The gateway's side of byte transfers: fetches or sends the bytes of one ticket.

import type { Readable } from "node:stream";
import { type ByteTransferTicket, Fault, isFault, isFaultName } from "@svc/proto";
import type { Agent, Dispatcher } from "undici";
import type { UploadHead } from "../api.ts";
import { type ChunkWriter, openIntoBuffer } from "./read-into-buffer.ts";
import { sendBody } from "./send-body.ts";

const connectWithinMs = 5_000;
const firstByteWithinMs = 60_000;
const stallMs = 120_000;
const longestAnswerBytes = 1_048_576;

let shared: Agent | undefined;

// Most processes with a mesh never move bytes; the client costs 7 MB.
async function loadClient() {
  const { Agent, request } = await import("undici");
  shared ??= new Agent({
    connect: { timeout: connectWithinMs },
    headersTimeout: firstByteWithinMs,
    bodyTimeout: stallMs,
    keepAliveTimeout: 4_000,
  });
  return { request, dispatcher: shared };
}

/** Bytes of a download and the headers that go with it; a `body` that ends early is destroyed with an error. */
type FetchedBytes = { headers: Record<string, string>; body: Readable };

/**
 * Downloads the bytes of a ticket. Throws the fault that the owner returns, or `unavailable` when it cannot be reached.
 * Read the body or destroy it.
 */
export async function fetchBytes(ticket: ByteTransferTicket, signal?: AbortSignal): Promise<FetchedBytes> {
  const response = await orUnavailable(exchange(ticket, { method: "GET", ...(signal ? { signal } : {}) }));
  if (response.statusCode !== 200) throw faultIn(await orUnavailable(response.body.text()));
  return { headers: ticket.headers, body: response.body };
}

type StreamedBytes = {
  headers: Record<string, string>;
  /** Delivers the whole body, chunk by chunk. Rejects with what `write` rejects with, and when the body breaks. */
  deliver: (write: ChunkWriter) => Promise<void>;
};

/**
 * As `fetchBytes`, with far less work for each byte where the ticket tells the length. Call `deliver`, or abort
 * `signal`.
 */
export async function streamBytes(ticket: ByteTransferTicket, signal: AbortSignal): Promise<StreamedBytes> {
  const { headers } = ticket;
  const length = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-length")?.[1];
  if (length === undefined) {
    const { body } = await fetchBytes(ticket, signal);
    return { headers, deliver: (write) => deliverChunks(body, write) };
  }
  const limits = { connectMs: connectWithinMs, firstByteMs: firstByteWithinMs, stallMs };
  const { status, deliver } = await orUnavailable(openIntoBuffer(ticket, limits, signal));
  if (status === 200) return { headers, deliver: (write) => deliverAll(deliver, write, Number(length)) };
  let text = "";
  await orUnavailable(
    deliver(async (chunk) => {
      if (text.length < longestAnswerBytes) text += chunk.toString("utf8");
    }),
  );
  throw faultIn(text);
}

async function deliverAll(
  deliver: StreamedBytes["deliver"],
  write: ChunkWriter,
  length: number,
): Promise<void> {
  let bytes = 0;
  await deliver((chunk) => {
    bytes += chunk.length;
    return write(chunk);
  });
  if (bytes < length) throw new Error(`the body ended after ${bytes} of ${length} bytes`);
}

async function deliverChunks(body: AsyncIterable<Buffer>, write: ChunkWriter): Promise<void> {
  for await (const chunk of body) await write(chunk);
}

/**
 * Uploads a body and returns the operation's JSON body. A body without a length may have trailers. A chunk has been sent
 * once the next one is asked for. Throws the fault that the owner returns or that `body` fails with, or `unavailable`
 * when the connection breaks or the owner reads nothing for two minutes.
 */
export async function sendBytes(
  ticket: ByteTransferTicket,
  body: AsyncIterable<Uint8Array>,
  head: Partial<UploadHead>,
  signal?: AbortSignal,
): Promise<unknown> {
  const { status, text } = await orUnavailable(sendBody(ticket, { body, head, stallMs, signal }));
  if (status !== 200) throw faultIn(text);
  return JSON.parse(text);
}

type LaneRequest = Pick<Dispatcher.RequestOptions, "body" | "headersTimeout" | "method" | "signal"> & {
  headers?: Record<string, string>;
};

async function exchange(ticket: ByteTransferTicket, options: LaneRequest): Promise<Dispatcher.ResponseData> {
  const { request, dispatcher } = await loadClient();
  const headers = { ...options.headers, authorization: `Bearer ${ticket.token}` };
  return request(ticket.url, { ...options, headers, dispatcher });
}

// The source of an upload may fail with a fault of its own (too large, a bad digest).
async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isFault(error) ? error : new Fault("unavailable", { cause: error });
  }
}

function faultIn(text: string): Fault {
  try {
    const answer: unknown = JSON.parse(text.slice(0, longestAnswerBytes));
    if (typeof answer !== "object" || answer === null || !("fault" in answer))
      return new Fault("unavailable");
    const { fault, message, retry_after: retryAfter } = answer as Record<string, unknown>;
    if (!isFaultName(fault)) return new Fault("unavailable");
    return new Fault(fault, {
      ...(typeof message === "string" ? { message } : {}),
      ...(typeof retryAfter === "number" ? { retryAfterSeconds: retryAfter } : {}),
    });
  } catch (error) {
    return new Fault("unavailable", { cause: error });
  }
}
