// One request and its answer, as every part of the face sees it.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Face } from "@svc/proto";

export type Exchange = {
  face: Face;
  request: IncomingMessage;
  response: ServerResponse;
  /** Value of X-Request-Id. */
  id: string;
  /** Milliseconds of `performance.now()`. */
  startedAt: number;
  /** Route pattern, `unmatched` for a path that nothing serves. */
  route: string;
  /** Who asked, as the log says it: an account id, a caller, or nothing. */
  principal: string;
  /** Bytes of the answer's body. */
  bytes: number;
  /** False for streams, whose length says nothing about latency. */
  isTimed: boolean;
  /** False while the body may come as slowly as it likes. */
  isPaced: boolean;
  /** Refusals have no body here. */
  hasEmptyErrors: boolean;
  /** The caller waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
};

const wellFormedId = /^[A-Za-z0-9._-]{1,128}$/;

/** Keeps a well-formed inbound request id, else makes one (interface.md 4.1 rule 1). */
export function requestIdOf(inbound: string | string[] | undefined): string {
  return typeof inbound === "string" && wellFormedId.test(inbound) ? inbound : randomUUID();
}

export function openExchange(face: Face, request: IncomingMessage, response: ServerResponse): Exchange {
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
    isPaced: true,
    hasEmptyErrors: false,
    awaitsContinue: request.headers.expect?.toLowerCase() === "100-continue",
  };
}

/** Asks for the body; a caller that is refused before never has to send it. */
export function inviteBody(exchange: Exchange): void {
  if (!exchange.awaitsContinue) return;
  exchange.awaitsContinue = false;
  exchange.response.writeContinue();
}

/** Path without the query; an absolute-form target loses its origin too. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? "/";
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
