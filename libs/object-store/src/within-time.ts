import { setTimeout as wait } from "node:timers/promises";
import { ObjectStoreError } from "./error.ts";
import type { Timing } from "./types.ts";

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
  let allowedMs = requestGraceMs;
  for (;;) {
    const timer = new AbortController();
    const startedAt = performance.now();
    const ended = signal ? AbortSignal.any([timer.signal, signal]) : timer.signal;
    const late = wait(Math.max(0, allowedMs), "late" as const, { signal: ended });
    const next = await Promise.race([source.next(), late]).finally(() => {
      timer.abort();
      late.catch(() => {});
    });
    if (next === "late") throw new ObjectStoreError("unavailable", "the store sends too slowly");
    if (next.done) return;
    allowedMs += (next.value.length / minRate) * 1_000 - (performance.now() - startedAt);
    yield next.value;
  }
}
