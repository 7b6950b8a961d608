/** Resolves once `look` answers something; asked anew whenever `wake` is called. */
export function watcher() {
  const waiting = new Set<() => void>();
  return {
    wake: () => {
      for (const look of waiting) look();
    },
    until: <T>(look: () => T | undefined | false) =>
      new Promise<T>((resolve) => {
        const attempt = () => {
          const found = look();
          if (found === undefined || found === false) return;
          waiting.delete(attempt);
          resolve(found as T);
        };
        waiting.add(attempt);
        attempt();
      }),
  };
}
