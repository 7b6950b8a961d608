// The gateway's side of lanes: fetches or sends the bytes of one ticket.

import type { Readable } from "node:stream";
import { Fault, isFault, isFaultName, type LaneTicket } from "@svc/proto";
import { Agent, type Dispatcher, request } from "undici";
import type { UploadHead } from "../api.ts";

const connectWithinMs = 5_000;
const firstByteWithinMs = 60_000;
const stallMs = 120_000;
const longestAnswerBytes = 1_048_576;

let shared: Agent | undefined;

function agent(): Agent {
  shared ??= new Agent({
    connect: { timeout: connectWithinMs },
    headersTimeout: firstByteWithinMs,
    bodyTimeout: stallMs,
    keepAliveTimeout: 4_000,
  });
  return shared;
}

/** Bytes of a download and the headers that go with it; a `body` that ends early is destroyed with an error. */
export type FetchedLane = { headers: Record<string, string>; body: Readable };

/**
 * Fetches a download lane. Throws the fault that the owner answers, or `unavailable` when it cannot be reached.
 * Read the body or destroy it.
 */
export async function fetchLane(ticket: LaneTicket, signal?: AbortSignal): Promise<FetchedLane> {
  const response = await exchange(ticket, { method: "GET", ...(signal ? { signal } : {}) });
  if (response.statusCode !== 200) throw await faultOf(response);
  return { headers: ticket.headers, body: response.body };
}

/**
 * Sends a body into an upload lane and answers what the owner makes of it: the operation's JSON body. Throws the
 * fault that the owner answers, or `unavailable` when the lane breaks.
 */
export async function sendLane(
  ticket: LaneTicket,
  body: Readable,
  head: Partial<UploadHead>,
  signal?: AbortSignal,
): Promise<unknown> {
  const response = await exchange(ticket, {
    method: "PUT",
    body,
    // The owner answers when it has checked and kept everything, which may take long.
    headersTimeout: 0,
    headers: {
      ...(head.contentLength === undefined ? {} : { "content-length": String(head.contentLength) }),
      ...(head.contentDigest === undefined ? {} : { "content-digest": head.contentDigest }),
    },
    ...(signal ? { signal } : {}),
  });
  if (response.statusCode !== 200) throw await faultOf(response);
  return response.body.json();
}

type LaneRequest = Pick<Dispatcher.RequestOptions, "body" | "headersTimeout" | "method" | "signal"> & {
  headers?: Record<string, string>;
};

async function exchange(ticket: LaneTicket, options: LaneRequest): Promise<Dispatcher.ResponseData> {
  try {
    return await request(ticket.url, {
      ...options,
      headers: { ...options.headers, authorization: `Bearer ${ticket.token}` },
      dispatcher: agent(),
    });
  } catch (error) {
    // The source of an upload may fail with a fault of its own (too large, a bad digest).
    throw isFault(error) ? error : new Fault("unavailable", { cause: error });
  }
}

async function faultOf(response: Dispatcher.ResponseData): Promise<Fault> {
  try {
    const text = await response.body.text();
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
