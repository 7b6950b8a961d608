/** The same chunks until `signal` aborts; then its reason is thrown at once, also while waiting for a chunk. */
export async function* untilAborted<T>(body: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const source = body[Symbol.asyncIterator]();
  // A race against one promise for all chunks would keep every chunk in memory.
  let fail: (reason: unknown) => void = () => {};
  const abort = () => fail(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const result = await new Promise<IteratorResult<T>>((settle, reject) => {
        fail = reject;
        source.next().then(settle, reject);
      });
      if (result.done) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // It may still be waiting for a chunk, so this is not awaited.
    source.return?.().catch(() => {});
  }
}
