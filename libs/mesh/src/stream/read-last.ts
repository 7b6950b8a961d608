// The last message of a key, and a write that is taken only behind it.

import { type Bucket, Fault } from "@svc/proto";
import { encodeHeaders, type HeaderValues } from "../connection/headers.ts";
import type { Core } from "../core.ts";
import { bucketStream, isRemoval, keySubject } from "./key-value.ts";
import { isPublished, publisherHeaders } from "./publisher.ts";

const answerWithinMs = 5_000;
// "wrong last sequence", as the server words it with and without the number.
const wrongSequence: ReadonlySet<number> = new Set([10071, 10164]);

/** `isPublished`: it is ours, and no answer of NATS that somebody had delivered there. */
type Last = { sequence: number; body: Uint8Array; isRemoval: boolean; isPublished: boolean };
type PubAck = { seq?: number; error?: { err_code?: number; description: string } };
type Write = {
  subject: string;
  body: Uint8Array;
  headers: HeaderValues;
  /** Sequence of the message that it follows; undefined = whatever is there. */
  after: number | undefined;
};

/** The sequence of what was written; undefined when something else is last. Throws the fault `unavailable`. */
export async function put(core: Core, { subject, body, headers, after }: Write): Promise<number | undefined> {
  const expected = after === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": String(after) };
  const block = encodeHeaders({ ...headers, ...expected, ...publisherHeaders(core) });
  const ack = (await ask(core, subject, { body, headers: block })).json<PubAck>();
  if (ack.error && wrongSequence.has(ack.error.err_code ?? 0)) return undefined;
  if (ack.error || !ack.seq) throw unavailable(new Error(ack.error?.description ?? "no acknowledgement"));
  return ack.seq;
}

/** What is stored for a key, the sign of a removal too. Throws the fault `unavailable`. */
export async function findLast(
  core: Core,
  bucket: Pick<Bucket, "name">,
  key: string,
): Promise<Last | undefined> {
  const subject = keySubject(bucket, key);
  const asked = `$JS.API.DIRECT.GET.${bucketStream(bucket.name)}.${subject}`;
  const { headers, data } = await ask(core, asked, { body: new Uint8Array(0) });
  if (headers?.code === 404) return undefined;
  const sequence = Number(headers?.values("Nats-Sequence").at(-1));
  if (!headers || headers.code >= 300 || !(sequence > 0)) {
    throw unavailable(new Error(`${subject} cannot be read: ${headers?.description ?? "no headers"}`));
  }
  return {
    sequence,
    body: data,
    isRemoval: isRemoval({ headers }),
    isPublished: isPublished(headers, "read"),
  };
}

async function ask(core: Core, subject: string, message: { body: Uint8Array; headers?: Uint8Array }) {
  try {
    return await core.connection.request({ subject, ...message, deadlineAt: Date.now() + answerWithinMs });
  } catch (error) {
    throw unavailable(error);
  }
}

export function unavailable(cause: unknown): Fault {
  return new Fault("unavailable", { cause });
}

/** The value of stored bytes; throws an Error for bytes that are none of this bucket. */
export function decode<V>(bucket: Bucket<V>, key: string, body: Uint8Array): V {
  const result = bucket.value.safeParse(JSON.parse(Buffer.from(body).toString("utf8")));
  if (result.success) return result.data;
  throw new Error(`the bucket ${bucket.name} holds something else under ${key}`, { cause: result.error });
}
