// Awaiting a condition of another process.

/** Asks `check` until it answers something truthy; throws what it throws, or says what was awaited. */
export async function until<T>(
  what: string,
  timeoutMs: number,
  check: () => Promise<T> | T,
): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs;
  while (performance.now() < end) {
    const value = await check();
    if (value) return value;
    await new Promise((wake) => setTimeout(wake, 10));
  }
  throw new Error(`waited ${timeoutMs / 1_000} s for ${what}`);
}
