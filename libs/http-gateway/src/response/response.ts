// The one place where answers are written.

import { type Fault, faults } from "@svc/proto";
import type { Exchange } from "../request/request-state.ts";
import { commonHeaders } from "./headers.ts";

/** Writes a whole answer. `headers` is a flat list of names and values beside the common ones. */
export function answer(
  exchange: Exchange,
  head: { status: number; headers?: readonly string[] },
  body?: Uint8Array,
): void {
  const { response, request } = exchange;
  // An answer to a request that came behind another one has no socket of its own yet.
  const socket = response.socket ?? request.socket;
  if (response.headersSent || response.destroyed || !socket?.writable) return;
  const headers = commonHeaders(exchange.id, request.headers["x-forwarded-proto"]);
  if (head.headers) headers.push(...head.headers);
  // Whether the body still comes is unknown, so what follows on this connection cannot be read.
  if (exchange.awaitsContinue) response.shouldKeepAlive = false;
  if (body === undefined) {
    if (head.status !== 204 && head.status !== 304) headers.push("Content-Length", "0");
    response.writeHead(head.status, headers).end();
    return;
  }
  headers.push("Content-Length", String(body.byteLength));
  if (request.method !== "HEAD") exchange.bytes = body.byteLength;
  response.writeHead(head.status, headers).end(body);
}

const jsonHeaders = ["Content-Type", "application/json", "Cache-Control", "no-store"];

/** Answers JSON bytes, or an empty body for 204. */
export function answerJson(
  exchange: Exchange,
  head: { status: number; headers?: readonly string[] },
  body: Uint8Array,
): void {
  const more = head.headers ?? [];
  if (head.status === 204) answer(exchange, { status: 204, headers: more });
  else answer(exchange, { status: head.status, headers: [...jsonHeaders, ...more] }, body);
}

/** The error envelope (interface.md 2.1). */
export function envelope(code: string, message: string, requestId: string): Buffer {
  return Buffer.from(JSON.stringify({ error: { code, message, request_id: requestId } }));
}

/** Answers a refusal. Every 503 says when to come back, so that callers never spin. */
export function answerFault(exchange: Exchange, fault: Fault, headers: readonly string[] = []): void {
  const { status, code } = faults[fault.fault];
  const seconds = fault.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  const retry = seconds === undefined ? [] : ["Retry-After", String(Math.max(1, Math.ceil(seconds)))];
  if (exchange.hasEmptyErrors && status !== 500) {
    answer(exchange, { status, headers: ["Cache-Control", "no-store", ...retry, ...headers] });
    return;
  }
  answerJson(
    exchange,
    { status, headers: [...retry, ...headers] },
    envelope(code, fault.message, exchange.id),
  );
}
