// A transfer on which nothing moves for too long is ended, in either direction.

/**
 * Passes bytes on; `onStall` is called when the source gives nothing for `stallMs` while it is asked, until `over` aborts:
 * a reader that gives up while it waits cannot end a generator that waits too.
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
  const rest = () => clearTimeout(timer);
  over.addEventListener("abort", rest, { once: true });
  watch();
  try {
    for await (const chunk of source) {
      rest();
      yield chunk;
      watch();
    }
  } finally {
    rest();
    over.removeEventListener("abort", rest);
  }
}

/** Passes bytes on; `onStall` is called when the reader does not ask for `stallMs` after it was given some. */
export async function* watchReader(
  source: AsyncIterable<Uint8Array>,
  stallMs: number,
  onStall: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of source) {
    const timer = setTimeout(onStall, stallMs);
    try {
      yield chunk;
    } finally {
      clearTimeout(timer);
    }
  }
}
