// A transfer on which nothing moves for too long is ended, in either direction.

/** Passes bytes on; `onStall` is called when the source gives nothing for `stallMs` while it is asked. */
export async function* watchSource(
  source: AsyncIterable<Uint8Array>,
  stallMs: number,
  onStall: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let timer = setTimeout(onStall, stallMs);
  try {
    for await (const chunk of source) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(onStall, stallMs);
    }
  } finally {
    clearTimeout(timer);
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
