// State of JetStream, for `svc support-bundle`.

import type { StreamState } from "../api.ts";
import type { Connection } from "../connection/nats-connection.ts";
import { jetStreamApi } from "../stream/jetstream-api.ts";

type Page<T> = { total: number; offset: number; limit: number } & T;
type ListedStream = {
  config: { name: string };
  state: { messages: number; bytes: number; first_seq: number; last_seq: number };
};
type ListedConsumer = {
  name: string;
  num_pending: number;
  num_ack_pending: number;
  num_redelivered: number;
  delivered: { stream_seq: number };
};

/** Every stream with its consumers; only `operator` may ask. */
export async function readStreams(connection: Connection): Promise<StreamState[]> {
  const streams = await allPages<ListedStream>(connection, "STREAM.LIST", "streams");
  return Promise.all(
    streams.map(async ({ config: { name }, state: { messages, bytes, first_seq, last_seq } }) => {
      const consumers = await allPages<ListedConsumer>(connection, `CONSUMER.LIST.${name}`, "consumers");
      return {
        ...{ name, messages, bytes, first_seq, last_seq },
        consumers: consumers.map((consumer) => ({
          name: consumer.name,
          pending: consumer.num_pending,
          ack_pending: consumer.num_ack_pending,
          redelivered: consumer.num_redelivered,
          delivered_seq: consumer.delivered.stream_seq,
        })),
      };
    }),
  );
}

async function allPages<T>(connection: Connection, verb: string, field: string): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await jetStreamApi<Page<Record<string, T[] | null>>>(connection, verb, {
      offset: all.length,
    });
    const rows = (page[field] as T[] | null) ?? [];
    all.push(...rows);
    if (rows.length === 0 || all.length >= page.total) return all;
  }
}
