// The strict server and stores on it, for one test file.

import { after, afterEach } from "node:test";
import { bytesBody } from "../body.ts";
import { openObjectStore } from "../store.ts";
import type { ObjectStore, ObjectStoreOptions } from "../types.ts";
import { type S3ServerOptions, startS3Server } from "./server.ts";

/** Short pauses; an attempt may take longer than any test. */
export const timing = {
  attempts: 4,
  firstPauseMs: 1,
  maxPauseMs: 50,
  requestGraceMs: 20_000,
  minRate: 1024 * 1024,
};

/** Starts a server; it and all stores end with the file, faults and clock with each test. */
export async function startFixture(options: S3ServerOptions = {}) {
  const s3 = await startS3Server(options);
  const stores: ObjectStore[] = [];
  afterEach(() => {
    s3.faults.clear();
    s3.setClock(0);
    for (const store of stores.splice(0)) store.close();
  });
  after(() => s3.stop());
  return {
    s3,
    openStore(about: Partial<ObjectStoreOptions> = {}): ObjectStore {
      const store = openObjectStore({ ...s3.options(), timing, ...about });
      stores.push(store);
      return store;
    },
    countOf: (operation: string, key?: string) =>
      s3.requests.filter((one) => one.operation === operation && (key === undefined || one.key === key))
        .length,
  };
}

export async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export const putBytes = (store: ObjectStore, key: string, bytes: Uint8Array) =>
  store.put({ key, fingerprint: "", body: () => bytesBody(bytes) });

export async function read(store: ObjectStore, key: string, options = {}): Promise<Buffer | undefined> {
  const found = await store.get(key, options);
  return found && collect(found.bytes);
}
