/** The same chunks until `signal` aborts; then its reason is thrown at once, also while waiting for a chunk. */
export async function* untilAborted<T>(body: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const source = body[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const result = await Promise.race([source.next(), aborted.promise]);
      if (result.done) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // It may still be waiting for a chunk, so this is not awaited.
    source.return?.().catch(() => {});
  }
}
