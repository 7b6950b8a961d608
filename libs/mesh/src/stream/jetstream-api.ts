// JetStream's JSON API over the shared inbox, as far as services need it.

import type { Connection } from "../connection/nats-connection.ts";

const timeoutMs = 5_000;
const empty = new Uint8Array(0);
const encoder = new TextEncoder();

/** An error of the JetStream API; `code` is the server's `err_code`. */
class JetStreamApiError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = "JetStreamApiError";
    this.code = code;
  }
}

export const apiCode = { streamNotFound: 10059, consumerNotFound: 10014, streamNameInUse: 10058 } as const;

/** True when `error` has that code. */
export function isApiCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** Calls `$JS.API.<verb>`; throws `JetStreamApiError` or `ConnectionError`. */
export async function jetStreamApi<T>(connection: Connection, verb: string, payload?: unknown): Promise<T> {
  const reply = await connection.request({
    subject: `$JS.API.${verb}`,
    body: payload === undefined ? empty : encoder.encode(JSON.stringify(payload)),
    deadlineAt: Date.now() + timeoutMs,
  });
  const answer = reply.json<T & { error?: { err_code?: number; code: number; description: string } }>();
  if (answer.error) {
    const { err_code, code, description } = answer.error;
    throw new JetStreamApiError(err_code ?? code, `JetStream ${verb}: ${description}`);
  }
  return answer;
}

/** Position of a delivered message, parsed from its reply subject in both forms that servers use. */
export type DeliveryPlace = {
  stream: string;
  consumer: string;
  deliveries: number;
  streamSequence: number;
  consumerSequence: number;
  /** Nanoseconds since 1970. */
  timestampNs: bigint;
  pending: number;
};

/** Undefined when the subject is not that of an acknowledgement. */
export function parsePlace(reply: string): DeliveryPlace | undefined {
  if (!reply.startsWith("$JS.ACK.")) return undefined;
  const tokens = reply.split(".");
  // The longer form has the domain and the account before the stream.
  const at = tokens.length >= 11 ? 4 : 2;
  if (tokens.length < at + 7) return undefined;
  return {
    stream: tokens[at] ?? "",
    consumer: tokens[at + 1] ?? "",
    deliveries: Number(tokens[at + 2]),
    streamSequence: Number(tokens[at + 3]),
    consumerSequence: Number(tokens[at + 4]),
    timestampNs: BigInt(tokens[at + 5] ?? "0"),
    pending: Number(tokens[at + 6]),
  };
}

/** Unix milliseconds of a JetStream timestamp. */
export function msOf(timestampNs: bigint): number {
  return Number(timestampNs / 1_000_000n);
}
