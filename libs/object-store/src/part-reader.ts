import { ObjectStoreError } from "./error.ts";
import type { Body } from "./types.ts";

type PartReader = {
  /** Fills a part with the bytes from `from` on. Reading on where the last part ended costs nothing. */
  fill: (from: number, part: Uint8Array) => Promise<void>;
  close: () => Promise<void>;
};

/** Reads a body in parts; begins again where parts in between are not needed. */
export function readParts(body: Body): PartReader {
  let source: AsyncIterator<Uint8Array> | undefined;
  let position = -1;
  let rest: Uint8Array = new Uint8Array(0);
  const close = async () => {
    const ending = source;
    source = undefined;
    await ending?.return?.();
  };
  return {
    async fill(from, part) {
      const { length } = part;
      if (!source || position !== from) {
        await close();
        source = body.read(from)[Symbol.asyncIterator]();
        rest = new Uint8Array(0);
      }
      let filled = 0;
      while (filled < length) {
        if (rest.length === 0) {
          const next = await source.next();
          if (next.done) throw tooShort(body, from + filled);
          rest = next.value;
        }
        const taken = rest.subarray(0, length - filled);
        part.set(taken, filled);
        filled += taken.length;
        rest = rest.subarray(taken.length);
      }
      position = from + length;
      if (position === body.sizeBytes) await expectEnd();
    },
    close,
  };
  // The end is read too: only there a source tells that its bytes were not what they should be.
  async function expectEnd() {
    while (rest.length === 0) {
      const next = await source?.next();
      if (!next || next.done) return;
      rest = next.value;
    }
    throw new ObjectStoreError("malformed", `the source has more than ${body.sizeBytes} bytes`);
  }
}

function tooShort(body: Body, at: number): ObjectStoreError {
  return new ObjectStoreError("malformed", `the source ended after ${at} of ${body.sizeBytes} bytes`);
}
