// Ends a transfer that makes no progress for too long, in either direction.

/**
 * Passes bytes on; calls `onStall` when the source yields nothing for `stallMs` while it is being read, until `over`
 * aborts: a reader that gives up while it waits cannot end a generator that waits too.
 */
export async function* watchSource(
  source: AsyncIterable<Uint8Array>,
  stallMs: number,
  { onStall, over }: { onStall: () => void; over: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    if (!over.aborted) timer = setTimeout(onStall, stallMs);
  };
  const pause = () => clearTimeout(timer);
  over.addEventListener("abort", pause, { once: true });
  watch();
  try {
    for await (const chunk of source) {
      pause();
      yield chunk;
      watch();
    }
  } finally {
    pause();
    over.removeEventListener("abort", pause);
  }
}
