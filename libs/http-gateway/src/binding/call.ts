// An authenticated request on its way to the owner.

import type { CallOptions, RawReply } from "@svc/mesh";
import type { Operation, Principal } from "@svc/proto";
import type { Credentials } from "../access/authenticate.ts";
import { sessionCookie } from "../access/session-cookie.ts";
import type { Fields } from "../request/input.ts";
import type { RequestState } from "../request/request-state.ts";

export type Call = {
  state: RequestState;
  contract: Operation;
  input: Fields;
  principal: Principal;
  credentials: Credentials;
  options: CallOptions;
};

/** Serves authenticated requests of one contract. Throws faults. */
export type Binding = (call: Call) => Promise<void>;

/** Set-Cookie of a response, only where the contract says that it may change the session. */
export function sessionHeaders(contract: Operation, reply: RawReply): readonly string[] {
  if (contract.http.session === undefined || reply.session === undefined) return [];
  if (contract.http.session === "ends" && reply.session !== null) return [];
  return ["Set-Cookie", sessionCookie(reply.session)];
}

/** Aborts when the caller disconnects before the response has ended. */
export function abortOnDisconnect({ response }: RequestState): AbortSignal {
  const disconnected = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) disconnected.abort();
  });
  if (response.destroyed) disconnected.abort();
  return disconnected.signal;
}
