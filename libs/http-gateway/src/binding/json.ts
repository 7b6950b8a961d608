// One JSON answer: the owner's bytes go out as they came.

import { buffer } from "node:stream/consumers";
import { fetchBytes, type Mesh, type RawReply } from "@svc/mesh";
import type { Operation } from "@svc/proto";
import type { Sessions } from "../access/sessions.ts";
import { answerJson } from "../response/response.ts";
import { type Binding, type Call, sessionHeaders } from "./call.ts";

const nullBody = Buffer.from("null");

export function jsonBinding(
  needs: { mesh: Pick<Mesh, "forward">; sessions?: Sessions | undefined },
  contract: Operation,
): Binding {
  const { mesh, sessions } = needs;
  const { status, session, nullAs } = contract.http;
  const statusOf = (body: Uint8Array) => (nullAs !== undefined && isNull(body) ? nullAs : status);
  if (session === undefined) {
    return async ({ exchange, input, options }) => {
      const reply = await mesh.forward(contract, input, options);
      const body = reply.byteTransfer ? await largeBody(reply.byteTransfer) : reply.body;
      answerJson(exchange, { status: statusOf(body) }, body);
    };
  }
  return async (call) => {
    const reply = await mesh.forward(contract, call.input, call.options);
    forgetOwn(sessions, call);
    const head = { status: statusOf(reply.body), headers: sessionHeaders(contract, reply) };
    answerJson(call.exchange, head, reply.body);
  };
}

// An answer that NATS would not carry comes by byte transfer (architecture.md 3, payload limit).
async function largeBody(byteTransfer: NonNullable<RawReply["byteTransfer"]>): Promise<Uint8Array> {
  return buffer((await fetchBytes(byteTransfer)).body);
}

function isNull(body: Uint8Array): boolean {
  return body.length === 4 && Buffer.from(body).equals(nullBody);
}

// Whatever such an operation did to the caller's session, this gateway shall not remember what was before.
function forgetOwn(sessions: Sessions | undefined, { principal }: Call): void {
  if (principal.kind === "account") sessions?.forget(principal.session);
}
