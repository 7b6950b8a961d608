// Sends a stream of unknown length to the internal face: chunked, with back-pressure, with the sha-256 of the content in a
// trailer (docs/reference/exports.md#content).

import { createHash } from "node:crypto";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { WorldFault } from "../fault.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { request: httpRequest } = process.getBuiltinModule("node:http");

export type TransferTarget = {
  url: string;
  /** One-time token. */
  token: string;
  /** How long either end may stall. */
  stallMs: number;
  signal?: AbortSignal | undefined;
  /** Goes along as the header of that name. */
  traceparent?: string | undefined;
};

type Send = TransferTarget & {
  /** Content length, if known. */
  length?: number | undefined;
  contentType: string;
  /** How long the response may take once everything is sent; `stallMs` by default. */
  answerMs?: number | undefined;
};

/** Small pieces, so that a slow receiver still shows progress. */
const pieceBytes = 128 << 10;

type Sent = { sizeBytes: number; sha256: string };

/** `produce` writes the body. Throws `transfer_failed`, or `backup_corrupt` when the face says 409. */
export async function sendStream(
  send: Send,
  produce: (write: (chunk: Buffer) => Promise<void>) => Promise<void>,
): Promise<Sent> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const request = openRequest(send);
  try {
    await produce(async (chunk) => {
      hash.update(chunk);
      sizeBytes += chunk.length;
      for (let at = 0; at < chunk.length; at += pieceBytes)
        await request.write(chunk.subarray(at, at + pieceBytes));
    });
    const sha256 = hash.digest();
    await request.finish({ "Content-Digest": `sha-256=:${sha256.toString("base64")}:` });
    return { sizeBytes, sha256: sha256.toString("hex") };
  } finally {
    request.close();
  }
}

/** One request whose waits all end: with progress, a response, an error, or after `stallMs`. */
function openRequest(send: Send) {
  const request = startRequest(send, "PUT", {
    "content-type": send.contentType,
    trailer: "Content-Digest",
    "transfer-encoding": "chunked",
    ...(send.length !== undefined && { "x-svc-export-length": String(send.length) }),
  });
  const ended = answerOf(request);
  ended.catch(() => undefined);
  const early = ended.then((answer) => {
    assertTaken(answer);
    throw failed("the internal face answered before everything was sent");
  });
  early.catch(() => undefined);
  const within = async (wait: Promise<unknown>, ms = send.stallMs) => {
    const timer = stallTimer(ms);
    try {
      await Promise.race([wait, timer.stalled]);
    } finally {
      timer.clear();
    }
  };
  return {
    write: async (piece: Buffer) => {
      if (request.destroyed) await early;
      // A piece is a view of a buffer that is reused, so it must be written before the next one is produced.
      const written = new Promise<void>((resolve) => request.write(piece, () => resolve()));
      await within(Promise.race([early, written]));
    },
    finish: async (trailers: Record<string, string>) => {
      request.addTrailers(trailers);
      request.end();
      await within(ended.then(assertTaken), send.answerMs);
    },
    close: () => void request.destroy(),
  };
}

type Answer = { status: number; text: string };

export function startRequest(
  { url, token, signal, traceparent }: TransferTarget,
  method: string,
  headers: Record<string, string> = {},
): ClientRequest {
  const start = new URL(url).protocol === "https:" ? httpsRequest : httpRequest;
  return start(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(traceparent !== undefined && { traceparent }),
      ...headers,
    },
    agent: false,
    ...(signal && { signal }),
  });
}

export function answerOf(request: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const fail = (reason: string) => {
      // A server that responds early then closes the connection; the response counts.
      if (!isAnswered) reject(failed(reason));
    };
    request.on("error", (error) => fail(error.message));
    request.once("close", () => fail("the connection was closed"));
    request.once("response", (response) => {
      isAnswered = true;
      const status = response.statusCode ?? 0;
      readText(response).then(
        (text) => resolve({ status, text }),
        () => resolve({ status, text: "" }),
      );
    });
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) if (text.length < 10_000) text += chunk;
  return text;
}

export function assertTaken({ status, text }: Answer): void {
  if (status >= 200 && status < 300) return;
  if (status === 409)
    throw new WorldFault("backup_corrupt", "The archive differs from the one recorded when it was made.");
  throw failed(`the internal face answered ${status} ${messageIn(text)}`);
}

/** The message of an error envelope, or the raw text. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === "string") return error.message.slice(0, 500).replace(/\.$/, "");
  } catch {
    // Not an envelope.
  }
  return text.slice(0, 200);
}

export function failed(reason: string): WorldFault {
  return new WorldFault("transfer_failed", `The transfer failed: ${reason}.`);
}

export function stallTimer(ms: number): { stalled: Promise<never>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(`no progress for ${ms / 1_000} s`)), ms);
  });
  stalled.catch(() => undefined);
  return { stalled, clear: () => clearTimeout(timer) };
}
