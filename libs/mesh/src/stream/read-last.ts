// The last message of a subject, and a write that the server accepts only directly behind it.

import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { Fault } from "@svc/proto";
import { encodeHeaders, type HeaderValues } from "../connection/headers.ts";
import type { Core } from "../core.ts";
import { isPublished, publisherHeaders } from "./publisher.ts";

const answerWithinMs = 5_000;
// "wrong last sequence", with and without the number.
const wrongSequence: ReadonlySet<number> = new Set([10071, 10164]);

/** `isPublished`: a service stored it; it is not an answer of NATS that was directed there. */
type LastMessage = { sequence: number; body: Uint8Array; headers: MsgHdrs; isPublished: boolean };

type ConditionalWrite = {
  subject: string;
  body: Uint8Array;
  headers: HeaderValues;
  /** Sequence of the message that it follows, 0 for none; undefined = whatever is there. */
  after: number | undefined;
};

type PubAck = { seq?: number; error?: { err_code?: number; description: string } };

/** The sequence of what was written; undefined when something else is last. Throws the fault `unavailable`. */
export async function storeAfter(core: Core, write: ConditionalWrite): Promise<number | undefined> {
  const { subject, body, headers, after } = write;
  const expected = after === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": String(after) };
  const block = encodeHeaders({ ...headers, ...expected, ...publisherHeaders(core) });
  const ack = (await ask(core, subject, { body, headers: block })).json<PubAck>();
  if (ack.error && wrongSequence.has(ack.error.err_code ?? 0)) return undefined;
  if (ack.error || !ack.seq) throw unavailable(new Error(ack.error?.description ?? "no acknowledgement"));
  return ack.seq;
}

/** The last message of a subject, whatever it says. Throws the fault `unavailable`. */
export async function readLast(
  core: Core,
  stream: string,
  subject: string,
): Promise<LastMessage | undefined> {
  const asked = `$JS.API.DIRECT.GET.${stream}.${subject}`;
  const { headers, data } = await ask(core, asked, { body: new Uint8Array(0) });
  if (headers?.code === 404) return undefined;
  const sequence = Number(headers?.values("Nats-Sequence").at(-1));
  if (!headers || headers.code >= 300 || !(sequence > 0)) {
    throw unavailable(new Error(`${subject} cannot be read: ${headers?.description ?? "no headers"}`));
  }
  return { sequence, body: data, headers, isPublished: isPublished(headers, "read") };
}

async function ask(
  core: Core,
  subject: string,
  message: { body: Uint8Array; headers?: Uint8Array },
): Promise<Msg> {
  try {
    return await core.connection.request({ subject, ...message, deadlineAt: Date.now() + answerWithinMs });
  } catch (error) {
    throw unavailable(error);
  }
}

function unavailable(cause: unknown): Fault {
  return new Fault("unavailable", { cause });
}
