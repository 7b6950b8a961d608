// The one place where responses are written.

import { type Fault, faults } from "@svc/proto";
import type { RequestState } from "../request/request-state.ts";
import { isWorthPacking, type Packable, pack } from "./compression.ts";
import { commonHeaders } from "./headers.ts";

/** `headers` is a flat list of names and values beside the common ones; `policy` replaces their content policy. */
export type ResponseHead = { status: number; headers?: readonly string[]; policy?: string };

/** Writes a whole response. */
export function sendResponse(state: RequestState, head: ResponseHead, body?: Uint8Array): void {
  const { response, request } = state;
  // The response to a pipelined request has no socket of its own yet.
  const socket = response.socket ?? request.socket;
  if (response.headersSent || response.destroyed || !socket?.writable) return;
  const headers = commonHeaders(state.id, request.headers["x-forwarded-proto"], head.policy);
  if (head.headers) headers.push(...head.headers);
  // The caller may or may not send the body now, so the next request cannot be found on this connection.
  if (state.awaitsContinue) response.shouldKeepAlive = false;
  if (body === undefined) {
    if (head.status !== 204 && head.status !== 304) headers.push("Content-Length", "0");
    response.writeHead(head.status, headers).end();
    return;
  }
  headers.push("Content-Length", String(body.byteLength));
  if (request.method !== "HEAD") state.bytes = body.byteLength;
  response.writeHead(head.status, headers).end(body);
}

const jsonHeaders = ["Content-Type", "application/json", "Cache-Control", "no-store"];

const noStore = ["Cache-Control", "no-store"] as const;

/** Sends what an owner answered, or an empty body for 204. */
export function sendAnswer(state: RequestState, status: number, body: Uint8Array): Promise<void> | void {
  if (status === 200 && state.compression !== "never") return sendPackable(state, { body }, noStore);
  sendJson(state, { status }, body);
}

/** Sends JSON bytes as they are, or an empty body for 204. */
export function sendJson(
  state: RequestState,
  head: { status: number; headers?: readonly string[] },
  body: Uint8Array,
): void {
  const more = head.headers ?? [];
  if (head.status === 204) sendResponse(state, { status: 204, headers: more });
  else sendResponse(state, { status: head.status, headers: [...jsonHeaders, ...more] }, body);
}

/** Sends a 200 with JSON, compressed where the operation and the caller allow it. */
export async function sendPackable(
  state: RequestState,
  answer: Packable,
  headers: readonly string[],
): Promise<void> {
  const vary = varyOf(state);
  const all = ["Content-Type", "application/json", ...headers, ...vary];
  if (!isPackedFor(state, answer)) return sendResponse(state, { status: 200, headers: all }, answer.body);
  const packed = pack(answer);
  const bytes = packed instanceof Uint8Array ? packed : await packed;
  sendResponse(state, { status: 200, headers: [...all, "Content-Encoding", "gzip"] }, bytes);
}

/** Whether an answer goes to this caller compressed. */
export function isPackedFor(state: RequestState, answer: Packable): boolean {
  return state.compression === "gzip" && isWorthPacking(answer);
}

const varies = ["Vary", "Accept-Encoding"] as const;

/** Caches must know that an answer depends on what the caller takes, also when it is the plain one. */
export function varyOf({ compression }: RequestState): readonly string[] {
  return compression === "never" ? [] : varies;
}

/** The error envelope (docs/reference/http.md#errors). */
export function envelope(code: string, message: string, requestId: string): Buffer {
  return Buffer.from(JSON.stringify({ error: { code, message, request_id: requestId } }));
}

/** Sends a fault. Every 503 has a Retry-After, so that callers do not spin. */
export function sendFault(state: RequestState, fault: Fault, headers: readonly string[] = []): void {
  const { status, code } = faults[fault.fault];
  const seconds = fault.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  const retry = seconds === undefined ? [] : ["Retry-After", String(Math.max(1, Math.ceil(seconds)))];
  if (state.hasEmptyErrors && status !== 500) {
    sendResponse(state, { status, headers: ["Cache-Control", "no-store", ...retry, ...headers] });
    return;
  }
  sendJson(state, { status, headers: [...retry, ...headers] }, envelope(code, fault.message, state.id));
}
