// JSON bodies (docs/reference/http.md#bodies).

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { Fault } from "@svc/proto";
import { type RequestState, sendContinue } from "./request-state.ts";

/** Whether the request announces a body; `Content-Length: 0` announces none. */
export function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers["transfer-encoding"] !== undefined) return true;
  const length = headers["content-length"];
  return length !== undefined && length !== "0";
}

/** Whether a Content-Type is application/json; parameters such as charset are allowed. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  return contentType === "application/json" || mediaTypeOf(contentType) === "application/json";
}

/** A Content-Type without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase();
}

/** Reads a whole body. Throws `too_large` above `limit` bytes; the rest is then discarded. */
export function readBody(state: RequestState, limit: number): Promise<Buffer> {
  const { request } = state;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => {
    request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
  };
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= limit) return;
    stop();
    request.resume();
    reject(new Fault("too_large", { message: tooLarge(limit) }));
  };
  const onEnd = () => {
    stop();
    resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
  };
  const onClose = () => {
    stop();
    reject(new Fault("bad_request", { message: "The body ended before its declared length." }));
  };
  sendContinue(state);
  request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  return promise;
}

export function tooLarge(limit: number): string {
  return `The body is over ${limit} bytes.`;
}

/** No input nests deeper than a dozen; a few thousand levels overflow the stack of JSON.stringify. */
const maxNesting = 100;

/**
 * Parses a body. Throws `bad_request` for bytes that are not UTF-8, malformed JSON, values nested more than 100 deep and
 * a key named __proto__.
 */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw badJson("the body is not UTF-8");
  if (isNestedDeeper(body, maxNesting)) throw badJson(`values are nested more than ${maxNesting} deep`);
  const text = body.toString("utf8");
  // A key can hide behind escapes (\u005f), so any escape of that block takes the slow way too.
  const isSuspect = text.includes("__proto__") || text.includes("\\u00");
  try {
    return isSuspect ? JSON.parse(text, refuseProto) : JSON.parse(text);
  } catch (error) {
    throw badJson(
      error instanceof ProtoKey ? "a key named __proto__ is not allowed" : "the body is not valid JSON",
    );
  }
}

const [quote, backslash, openList, openObject, closeList, closeObject] = Buffer.from('"\\[{]}');

function isNestedDeeper(body: Buffer, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) at = endOfString(body, at + 1);
    else if (byte === openList || byte === openObject) depth += 1;
    else if (byte === closeList || byte === closeObject) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}

function endOfString(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== quote) at += body[at] === backslash ? 2 : 1;
  return at;
}

class ProtoKey extends Error {}

function refuseProto(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new ProtoKey();
  return value;
}

function badJson(reason: string): Fault {
  return new Fault("bad_request", { message: `The request is not valid: ${reason}.` });
}
