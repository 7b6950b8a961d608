import { createSealedBody, type SealedBody } from "./body.ts";
import { SealedError } from "./error.ts";
import { plainSize } from "./format.ts";
import type { KeyRing } from "./key.ts";
import { open } from "./open.ts";
import { skipBytes } from "./pieces.ts";

/**
 * A sealed object under the active key of the ring, made of one under any key of it: the plaintext is never stored. It
 * has the same size. What `readSealed` yields is checked as by `open`.
 */
export function reseal(options: {
  ring: KeyRing;
  /** Size of the sealed object. */
  sealedBytes: number;
  /** The sealed object from its first byte on. */
  readSealed: () => AsyncIterable<Uint8Array>;
  state?: string | undefined;
}): SealedBody {
  const { ring, sealedBytes, readSealed, state } = options;
  const plainBytes = plainSize(sealedBytes);
  if (plainBytes === undefined)
    throw new SealedError("truncated", `no sealed object has ${sealedBytes} bytes`);
  return createSealedBody({
    key: ring.active,
    plainBytes,
    readPlain: (from) => skipBytes(open(readSealed(), ring), from),
    state,
  });
}
