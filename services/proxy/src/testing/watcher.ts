/** For what tells nobody that it changed: looked at again after every round of the event loop. */
export async function becomes(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

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
