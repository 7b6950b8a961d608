// Whether the bucket is sealed with a key that this host has (docs/reference/off-site.md#recorded-keys).

import type { ObjectStore } from "@svc/object-store";
import {
  compareKeys,
  formatRecordedKeys,
  isSealedError,
  type KeyRing,
  open,
  parseRecordedKeys,
  type RecordedKeys,
  recordKeys,
} from "@svc/sealed";
import { readClear, writeClear } from "./clear-object.ts";
import { isSealedObject, keyIdObject } from "./object-key.ts";

type Deps = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

/** The copies are sealed with a key that this host does not have. */
export class WrongKeyError extends Error {
  override name = "WrongKeyError";
}

export type CheckedKeys = {
  /** Ids of the keys of all objects, the active one first. */
  recorded: () => RecordedKeys;
  /** Names the active key in the bucket; only the writer may. */
  record: () => Promise<void>;
  /** No object is sealed with another key than the active one any more. */
  dropOlder: () => Promise<void>;
};

/** Reads only. Throws `WrongKeyError`. */
export async function checkKeys({ bucket, ring, signal }: Deps): Promise<CheckedKeys> {
  const text = (await readClear(bucket, keyIdObject, signal))?.text;
  const named = text === undefined ? undefined : parseRecordedKeys(text);
  if (text !== undefined && !named)
    throw new WrongKeyError(
      `the object ${keyIdObject} does not name a key; a newer version may have written it`,
    );
  const fit = compareKeys(ring, named);
  if (fit === "other")
    throw new WrongKeyError(
      `the copies are sealed with the key ${named?.[0]}, and this host has ${ring.active.id}; nothing was copied or deleted`,
    );
  if (fit === "unused") await assertOpens({ bucket, ring, signal });
  let current = named;
  const write = async (next: RecordedKeys) => {
    const nextText = formatRecordedKeys(next);
    if (current && formatRecordedKeys(current) === nextText) return;
    await writeClear(bucket, { key: keyIdObject, text: nextText }, signal);
    current = next;
  };
  return {
    recorded: () => current ?? [],
    record: () => write(recordKeys(ring, current)),
    dropOlder: () => write([ring.active.id]),
  };
}

/** A bucket whose key is no longer named may still have copies; they say whether the key fits. */
async function assertOpens({ bucket, ring, signal }: Deps): Promise<void> {
  for await (const { key } of bucket.list("", { signal })) {
    if (!isSealedObject(key)) continue;
    const found = await bucket.get(key, { signal });
    if (!found) continue;
    try {
      for await (const _ of open(found.bytes, ring)) break;
    } catch (error) {
      if (!isSealedError(error, "unreadable")) throw error;
      throw new WrongKeyError(
        `the bucket has copies that the key ${ring.active.id} does not open; nothing was copied or deleted`,
      );
    }
    return;
  }
}
