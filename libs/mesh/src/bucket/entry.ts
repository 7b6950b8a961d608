import { type Bucket, parseNewer } from "@svc/proto";
import { textOf } from "../json.ts";

/** The value of stored bytes; throws an Error for bytes that do not fit the bucket. */
export function decodeEntry<V>(bucket: Bucket<V>, key: string, body: Uint8Array): V {
  try {
    return parseNewer(bucket.value, JSON.parse(textOf(body)));
  } catch (cause) {
    throw new Error(`the bucket ${bucket.name} has an invalid value under ${key}`, { cause });
  }
}
