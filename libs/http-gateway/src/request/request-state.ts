// One request and its response, as every part of the face sees it.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Face } from "@svc/proto";

export type RequestState = {
  face: Face;
  request: IncomingMessage;
  response: ServerResponse;
  /** Value of X-Request-Id. */
  id: string;
  /** Milliseconds of `performance.now()`. */
  startedAt: number;
  /** Route pattern, `unmatched` for a path that nothing serves. */
  route: string;
  /** Who sent it, for the log: an account id, with the id of its API token, a caller, or nothing. */
  principal: string;
  /** Bytes of the response body sent so far. */
  bytes: number;
  /** False for streams, whose duration says nothing about latency. */
  isTimed: boolean;
  /** False while the body may arrive at any rate. */
  hasMinimumRate: boolean;
  /** Error responses of this operation have no body. */
  hasEmptyErrors: boolean;
  /** Whether answers are compressed for callers that take it, and whether this one does. */
  compression: "never" | "refused" | "gzip";
  /** Of the span of this request, where spans are recorded. */
  traceparent?: string;
  /** The caller waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
};

const wellFormedId = /^[A-Za-z0-9._-]{1,128}$/;

/** Keeps a well-formed inbound request id, else creates one (docs/reference/http.md#shared). */
export function requestIdOf(inbound: string | string[] | undefined): string {
  return typeof inbound === "string" && wellFormedId.test(inbound) ? inbound : randomUUID();
}

export function createRequestState(
  face: Face,
  request: IncomingMessage,
  response: ServerResponse,
): RequestState {
  return {
    face,
    request,
    response,
    id: requestIdOf(request.headers["x-request-id"]),
    startedAt: performance.now(),
    route: "unmatched",
    principal: "",
    bytes: 0,
    isTimed: true,
    hasMinimumRate: true,
    hasEmptyErrors: false,
    compression: "never",
    awaitsContinue: request.headers.expect?.toLowerCase() === "100-continue",
  };
}

/** Sends 100 Continue to a caller that waits for it before it sends the body. */
export function sendContinue(state: RequestState): void {
  if (!state.awaitsContinue) return;
  state.awaitsContinue = false;
  state.response.writeContinue();
}

/** Path without the query; an absolute-form target loses its origin too. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? "/";
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
