type Watch = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/**
 * Runs `send`, which passes bytes on to a service: the connection says only that they ended, so an error of the bytes that it
 * watches is thrown instead of that of `send`.
 */
export async function passBytesOn<T>(send: (watch: Watch) => Promise<T>): Promise<T> {
  let cause: unknown;
  async function* watch(bytes: AsyncIterable<Uint8Array>) {
    try {
      yield* bytes;
    } catch (error) {
      cause = error;
      throw error;
    }
  }
  return send(watch).catch((error: unknown) => {
    throw cause ?? error;
  });
}
