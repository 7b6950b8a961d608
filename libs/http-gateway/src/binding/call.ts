// An admitted request on its way to the owner.

import type { CallOptions, RawReply } from "@svc/mesh";
import type { Operation, Principal } from "@svc/proto";
import type { Visitor } from "../access/authenticate.ts";
import { sessionCookie } from "../access/session-cookie.ts";
import type { Fields } from "../request/input.ts";
import type { Exchange } from "../request/request-state.ts";

export type Call = {
  exchange: Exchange;
  contract: Operation;
  input: Fields;
  principal: Principal;
  visitor: Visitor;
  options: CallOptions;
};

/** Serves admitted requests of one contract. A fault is thrown. */
export type Binding = (call: Call) => Promise<void>;

/** Set-Cookie of an answer, only where the contract says that it may touch the session. */
export function sessionHeaders(contract: Operation, reply: RawReply): readonly string[] {
  if (contract.http.session === undefined || reply.session === undefined) return [];
  if (contract.http.session === "ends" && reply.session !== null) return [];
  return ["Set-Cookie", sessionCookie(reply.session)];
}

/** Aborts when the caller's connection goes away before the answer has ended. */
export function leavingOf({ response }: Exchange): AbortSignal {
  const leaving = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) leaving.abort();
  });
  if (response.destroyed) leaving.abort();
  return leaving.signal;
}
