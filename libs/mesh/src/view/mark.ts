// The owner's mark on its view: everything that it has to say is in this bucket (docs/reference/mesh.md#views).

import { encodeJson, textOf } from "../json.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { isRemoval } from "../stream/key-value.ts";
import { type CatchUps, catchUpsIn } from "./catch-up.ts";

/**
 * `bucket`: when it was created, which tells it from one of the same name before it. `caughtUp`: the requests of readers
 * since which everything known was written; undefined when that cannot be said.
 */
export function encodeMark(about: {
  bucket: string;
  size: number;
  caughtUp: CatchUps | undefined;
}): Uint8Array {
  return encodeJson({ at: new Date().toISOString(), ...about });
}

/** `at`: when the owner made it, Unix milliseconds. Without `caughtUp` the owner answers no requests for now. */
type Mark = { at: number; caughtUp: CatchUps | undefined };

/** Undefined when it is not a mark or is about another bucket. Marks of older releases do not name their bucket and count for any. */
export function readMark(message: StreamMessage, bucket: string): Mark | undefined {
  if (isRemoval(message)) return undefined;
  try {
    const meta: unknown = JSON.parse(textOf(message.body));
    if (typeof meta !== "object" || meta === null || !("at" in meta)) return undefined;
    const about = "bucket" in meta ? String(meta.bucket) : undefined;
    const at = Date.parse(String(meta.at));
    if (Number.isNaN(at) || (about !== undefined && about !== bucket)) return undefined;
    return { at: Math.min(at, Date.now()), caughtUp: catchUpsIn(meta) };
  } catch {
    return undefined;
  }
}
