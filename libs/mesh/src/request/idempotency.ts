// Runs a request that its caller may repeat once; a repeat gets the outcome of the first run (ADR 0014).

import type { Msg } from "@nats-io/transport-node";
import { type AnyContract, Fault, type FaultName, header, isFaultName } from "@svc/proto";
import type { Core } from "../core.ts";
import { textOf } from "../json.ts";
import type { Envelope } from "./wire.ts";

type Refusal = { fault: FaultName; message: string };
/** A reply as it is sent; `fault` is set for a failure. */
export type Answer = { body: Uint8Array; headers: Uint8Array | undefined; fault?: Refusal };

const longestId = 64;
const headBytes = 5;

/** Answers with `run`, which never rejects, or with what it returned for the same request before. */
export async function answerOnce(
  core: Core,
  arrived: { contract: AnyContract; message: Msg; envelope: Envelope },
  run: () => Promise<Answer>,
): Promise<Answer> {
  const { contract, message, envelope } = arrived;
  const id = contract.onceById ? (message.headers?.get(header.onceId) ?? "") : "";
  if (id === "") return run();
  if (id.length > longestId)
    throw new Fault("bad_request", { message: "The id of the request is too long." });
  const isRepeat = message.headers?.has(header.repeat) === true;
  if (core.repeats) {
    const { deadlineAt } = envelope;
    return unpack(await core.repeats.once({ id, isRepeat, deadlineAt }, async () => pack(await run())));
  }
  // This process has no record of what the first run did.
  if (isRepeat) throw new Fault("unavailable");
  return run();
}

// One byte of length before the fault, four before the headers; the rest is the body.
function pack({ body, headers, fault }: Answer): Uint8Array {
  const name = Buffer.from(fault?.fault ?? "");
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(name.length, 0);
  head.writeUInt32BE(headers?.length ?? 0, 1);
  return Buffer.concat([head, name, headers ?? Buffer.alloc(0), body]);
}

function unpack(outcome: Uint8Array): Answer {
  const bytes = Buffer.from(outcome.buffer, outcome.byteOffset, outcome.byteLength);
  const headersAt = headBytes + bytes.readUInt8(0);
  const bodyAt = headersAt + bytes.readUInt32BE(1);
  const fault = textOf(bytes.subarray(headBytes, headersAt));
  return {
    body: bytes.subarray(bodyAt),
    headers: bodyAt > headersAt ? bytes.subarray(headersAt, bodyAt) : undefined,
    ...(isFaultName(fault) && { fault: { fault, message: "as before" } }),
  };
}
