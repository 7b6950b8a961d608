// The owner's mark on its view: everything that it has to say is in this bucket (docs/reference/mesh.md#views).

import { encodeJson, textOf } from "../json.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { isRemoval } from "../stream/key-value.ts";

/** `bucket`: when it was created, which tells it from one of the same name before it. */
export function encodeMark(bucket: string, size: number): Uint8Array {
  return encodeJson({ at: new Date().toISOString(), size, bucket });
}

/**
 * When the owner made this mark, Unix milliseconds; undefined when it is not a mark or is about another bucket. Marks of
 * older releases do not name their bucket and count for any.
 */
export function markedAt(message: StreamMessage, bucket: string): number | undefined {
  if (isRemoval(message)) return undefined;
  try {
    const meta: unknown = JSON.parse(textOf(message.body));
    if (typeof meta !== "object" || meta === null || !("at" in meta)) return undefined;
    const about = "bucket" in meta ? String(meta.bucket) : undefined;
    const at = Date.parse(String(meta.at));
    if (Number.isNaN(at) || (about !== undefined && about !== bucket)) return undefined;
    return Math.min(at, Date.now());
  } catch {
    return undefined;
  }
}
