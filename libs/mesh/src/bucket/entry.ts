import type { Bucket } from "@svc/proto";
import { textOf } from "../json.ts";

/** The value of stored bytes; throws an Error for bytes that do not fit the bucket. */
export function decodeEntry<V>(bucket: Bucket<V>, key: string, body: Uint8Array): V {
  const result = bucket.value.safeParse(JSON.parse(textOf(body)));
  if (result.success) return result.data;
  throw new Error(`the bucket ${bucket.name} has an invalid value under ${key}`, { cause: result.error });
}
