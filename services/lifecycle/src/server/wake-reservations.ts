/**
 * Servers that this replica is waking and that its copy of the cluster may not show yet: concurrent wakes must not exceed
 * the capacity together.
 */
export type WakeReservations = {
  /** The names, each with the number of its wakes. */
  readonly names: ReadonlyMap<string, number>;
  /** Counts a wake until the returned function is called. */
  readonly reserve: (name: string) => () => void;
};

export function createWakeReservations(): WakeReservations {
  const names = new Map<string, number>();
  return {
    names,
    reserve: (name) => {
      names.set(name, (names.get(name) ?? 0) + 1);
      return () => {
        const left = (names.get(name) ?? 1) - 1;
        if (left > 0) names.set(name, left);
        else names.delete(name);
      };
    },
  };
}
