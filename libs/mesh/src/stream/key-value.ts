// Views and buckets in JetStream: key-value buckets as every NATS tool reads them (`nats kv get servers survival`).

import type { View } from "@svc/proto";
import type { StreamMessage } from "./direct-get.ts";

/** Key under which the owner marks the view as complete and current. */
export const metaKey = "_meta";

const keyShape = /^[A-Za-z0-9_=/-]+$/;

export function bucketStream(name: string): string {
  return `KV_${name}`;
}

/** Subject of one key; throws an Error for a key that is not subject-safe or is reserved. */
export function keySubject(view: Pick<View, "name">, key: string): string {
  if (!keyShape.test(key) || key === metaKey)
    throw new Error(`${view.name}: key ${JSON.stringify(key)} is not subject-safe`);
  return `$KV.${view.name}.${key}`;
}

export function metaSubject(view: Pick<View, "name">): string {
  return `$KV.${view.name}.${metaKey}`;
}

export function bucketFilter(view: Pick<View, "name">): string {
  return `$KV.${view.name}.>`;
}

/** Headers of a removal. The marker outlives every reconnect of a reader and then expires. */
export const removalHeaders = { "KV-Operation": "DEL", "Nats-TTL": "1h" } as const;

export function isRemoval(message: Pick<StreamMessage, "headers">): boolean {
  const { headers } = message;
  if (!headers) return false;
  const operation = headers.get("KV-Operation");
  return operation === "DEL" || operation === "PURGE" || headers.has("Nats-Marker-Reason");
}

/** The key of a message of the bucket. */
export function keyOf(view: Pick<View, "name">, message: StreamMessage): string {
  return message.subject.slice("$KV.".length + view.name.length + 1);
}

/** True when both have the same bytes. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && Buffer.compare(left, right) === 0;
}
