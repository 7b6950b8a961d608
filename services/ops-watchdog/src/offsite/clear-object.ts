// Small objects that are not sealed: `svc-key-id` and `svc-writer`.

import { bytesBody, type ObjectStore } from "@svc/object-store";

const largest = 65_536;

export type ClearObject = { text: string; etag: string };

/** Undefined when there is none. */
export async function readClear(
  bucket: ObjectStore,
  key: string,
  signal?: AbortSignal,
): Promise<ClearObject | undefined> {
  const found = await bucket.get(key, { to: largest - 1, signal });
  if (!found) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of found.bytes) chunks.push(chunk);
  return { text: Buffer.concat(chunks).toString("utf8"), etag: found.head.etag };
}

export async function writeClear(
  bucket: ObjectStore,
  { key, text }: { key: string; text: string },
  signal?: AbortSignal,
): Promise<void> {
  await bucket.put({ key, fingerprint: text, body: () => bytesBody(Buffer.from(text)), signal });
}
