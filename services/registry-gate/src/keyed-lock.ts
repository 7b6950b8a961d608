// One holder for each name at a time, in the order of arrival.

export function createKeyedLock(): { acquire: (name: string) => Promise<() => void> } {
  const last = new Map<string, Promise<void>>();
  return {
    acquire: async (name) => {
      const before = last.get(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(name, promise);
      await before;
      return () => {
        if (last.get(name) === promise) last.delete(name);
        resolve();
      };
    },
  };
}
