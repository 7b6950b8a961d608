// Runs a limited number of calls at once; others wait in order, or end with their signal.

export function createSemaphore(atOnce: number) {
  const waiting = new Set<() => void>();
  let running = 0;
  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const start = () => {
        waiting.delete(start);
        signal.removeEventListener("abort", leave);
        running++;
        resolve();
      };
      const leave = () => {
        waiting.delete(start);
        reject(signal.reason);
      };
      if (signal.aborted) return leave();
      if (running < atOnce) return start();
      signal.addEventListener("abort", leave, { once: true });
      waiting.add(start);
    });
  return async <T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    await turn(signal);
    try {
      return await run();
    } finally {
      running--;
      for (const start of waiting) {
        start();
        break;
      }
    }
  };
}
