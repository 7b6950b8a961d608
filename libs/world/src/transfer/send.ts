// Sends a stream of unknown length to the internal face: chunked, at the pace of whoever takes it, with the sha-256 of
// everything in a trailer (behaviour.md h.6).

import { createHash } from "node:crypto";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { WorldFault } from "../fault.ts";

export type Door = {
  url: string;
  /** One-time token. */
  token: string;
  /** How long either end may stand still. */
  stallMs: number;
  signal?: AbortSignal | undefined;
};

export type Send = Door & {
  /** Bytes that will come, where that is known. */
  length?: number | undefined;
  contentType: string;
  /** How long the answer may take once everything is sent; as long as any other wait when it is not said. */
  answerMs?: number | undefined;
};

/** Small pieces, so that a slow taker still shows that it takes. */
const pieceBytes = 128 << 10;

export type Sent = { sizeBytes: number; sha256: string };

/** `produce` writes the body. Throws `transfer_failed`, or `backup_corrupt` when the face says 409. */
export async function sendStream(
  send: Send,
  produce: (write: (chunk: Buffer) => Promise<void>) => Promise<void>,
): Promise<Sent> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const line = openLine(send);
  try {
    await produce(async (chunk) => {
      hash.update(chunk);
      sizeBytes += chunk.length;
      for (let at = 0; at < chunk.length; at += pieceBytes)
        await line.write(chunk.subarray(at, at + pieceBytes));
    });
    const sha256 = hash.digest();
    await line.finish({ "Content-Digest": `sha-256=:${sha256.toString("base64")}:` });
    return { sizeBytes, sha256: sha256.toString("hex") };
  } finally {
    line.close();
  }
}

/** One request whose every wait ends: with a step on, with an answer, with an error, or after `stallMs`. */
function openLine(send: Send) {
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
      // A piece is a view of a buffer that its owner uses again, so it must be on its way before the next one comes.
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

export type Answer = { status: number; text: string };

export function startRequest(
  { url, token, signal }: Door,
  method: string,
  headers: Record<string, string> = {},
): ClientRequest {
  const start = new URL(url).protocol === "https:" ? httpsRequest : httpRequest;
  return start(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    agent: false,
    ...(signal && { signal }),
  });
}

export function answerOf(request: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const fail = (reason: string) => {
      // Whoever answers before it has taken everything closes the connection then; the answer is what counts.
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
    throw new WorldFault("backup_corrupt", "The archive is not the one recorded when it was made.");
  throw failed(`the internal face answered ${status} ${messageIn(text)}`);
}

/** The words of an error envelope, or what there is instead. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === "string") return error.message.slice(0, 500).replace(/\.$/, "");
  } catch {
    // Then it is no envelope.
  }
  return text.slice(0, 200);
}

export function failed(reason: string): WorldFault {
  return new WorldFault("transfer_failed", `The transfer failed: ${reason}.`);
}

export function stallTimer(ms: number): { stalled: Promise<never>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(`nothing moved for ${ms / 1_000} s`)), ms);
  });
  stalled.catch(() => undefined);
  return { stalled, clear: () => clearTimeout(timer) };
}
