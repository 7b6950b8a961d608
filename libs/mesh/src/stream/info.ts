// Looks up streams. Services never create or change one: `svc migrate up` does.

import type { Connection } from "../connection/nats-connection.ts";
import { apiCode, isApiCode, jetStreamApi } from "./jetstream-api.ts";

export type StreamInfo = {
  /** Changes when the stream is created again. */
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

/** Tells the operator what to do about a missing stream. */
export function noStream(name: string): Error {
  return new Error(`NATS has no stream ${name}: run \`svc migrate up\``);
}
