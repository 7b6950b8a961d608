// One JSON response: the owner's bytes are sent as they came.

import { buffer } from "node:stream/consumers";
import { fetchBytes, type Mesh, type RawReply } from "@svc/mesh";
import type { Operation } from "@svc/proto";
import type { Sessions } from "../access/sessions.ts";
import { sendAnswer, sendJson } from "../response/response.ts";
import { type Binding, type Call, sessionHeaders } from "./call.ts";

const nullBody = Buffer.from("null");

export function jsonBinding(
  deps: { mesh: Pick<Mesh, "forward">; sessions?: Sessions | undefined },
  contract: Operation,
): Binding {
  const { mesh, sessions } = deps;
  const { status, session, nullAs } = contract.http;
  const statusOf = (body: Uint8Array) => (nullAs !== undefined && isNull(body) ? nullAs : status);
  if (session === undefined) {
    return async ({ state, input, options }) => {
      const reply = await mesh.forward(contract, input, options);
      const body = reply.byteTransfer ? await largeBody(reply.byteTransfer) : reply.body;
      await sendAnswer(state, statusOf(body), body);
    };
  }
  return async (call) => {
    const reply = await mesh.forward(contract, call.input, call.options);
    forgetOwn(sessions, call);
    const head = { status: statusOf(reply.body), headers: sessionHeaders(contract, reply) };
    sendJson(call.state, head, reply.body);
  };
}

// An answer that NATS would not carry comes by byte transfer (docs/reference/byte-transfers.md#ticket).
async function largeBody(byteTransfer: NonNullable<RawReply["byteTransfer"]>): Promise<Uint8Array> {
  return buffer((await fetchBytes(byteTransfer)).body);
}

function isNull(body: Uint8Array): boolean {
  return body.length === 4 && Buffer.from(body).equals(nullBody);
}

// The operation may have changed the caller's session: the cached one is dropped.
function forgetOwn(sessions: Sessions | undefined, { principal }: Call): void {
  if (principal.kind === "account") sessions?.forget(principal.session);
}
