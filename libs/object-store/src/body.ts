import type { Body } from "./types.ts";

/** A body of bytes in memory. */
export function bytesBody(bytes: Uint8Array): Body {
  return {
    sizeBytes: bytes.length,
    state: "",
    async *read(from) {
      if (from < bytes.length) yield bytes.subarray(from);
    },
  };
}
