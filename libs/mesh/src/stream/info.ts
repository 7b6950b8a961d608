// What NATS says of a stream. Services look and never make or change one: `svc migrate up` does.

import type { Connection } from "../connection/nats-connection.ts";
import type { StreamConfig } from "./catalog.ts";
import { apiCode, isApiCode, jetStreamApi } from "./jetstream-api.ts";

export type StreamInfo = {
  config: StreamConfig;
  /** Changes when the stream is made anew. */
  created: string;
  /** The server's clock when it answered. */
  ts?: string;
  state: { last_seq: number };
};

/** Undefined when there is no such stream. */
export async function findStream(connection: Connection, name: string): Promise<StreamInfo | undefined> {
  try {
    return await jetStreamApi<StreamInfo>(connection, `STREAM.INFO.${name}`);
  } catch (error) {
    if (isApiCode(error, apiCode.streamNotFound)) return undefined;
    throw error;
  }
}

/** What a person has to do about a stream that is not there. */
export function noStream(name: string): Error {
  return new Error(`NATS has no stream ${name}: run \`svc migrate up\``);
}
