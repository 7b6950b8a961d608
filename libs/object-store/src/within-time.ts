import { ObjectStoreError } from "./error.ts";
import type { Timing } from "./types.ts";

type Fail = (why: unknown) => void;

/**
 * The chunks of a body. Fails when the time spent waiting for them is more than their number of bytes allows; the time
 * that the reader takes does not count.
 */
export async function* withinTime(
  body: AsyncIterable<Buffer>,
  { requestGraceMs, minRate }: Pick<Timing, "requestGraceMs" | "minRate">,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const source = body[Symbol.asyncIterator]();
  const patience = createPatience(requestGraceMs);
  const giveUp = () => patience.fail(signal?.reason);
  signal?.addEventListener("abort", giveUp);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = await patience.waitFor(source);
      if (next.done) return;
      patience.allow((next.value.length / minRate) * 1_000);
      yield next.value;
    }
  } finally {
    signal?.removeEventListener("abort", giveUp);
    patience.end();
  }
}

/** One timer serves a whole body: one for each chunk took as long as receiving it. */
function createPatience(graceMs: number) {
  let leftMs = graceMs;
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let fail: Fail | undefined;
  const check = () => {
    timer = undefined;
    if (!fail) return;
    const waitMs = leftMs - (performance.now() - startedAt);
    if (waitMs > 0) timer = setTimeout(check, waitMs);
    else fail(new ObjectStoreError("unavailable", "the store sends too slowly"));
  };
  return {
    async waitFor<T>(source: AsyncIterator<T>): Promise<IteratorResult<T>> {
      startedAt = performance.now();
      timer ??= setTimeout(check, Math.max(0, leftMs));
      try {
        return await new Promise<IteratorResult<T>>((settle, reject) => {
          fail = reject;
          source.next().then(settle, reject);
        });
      } finally {
        fail = undefined;
        leftMs -= performance.now() - startedAt;
      }
    },
    allow(ms: number): void {
      leftMs += ms;
    },
    fail: (why: unknown) => fail?.(why),
    end: () => clearTimeout(timer),
  };
}
