// The waiting players, in memory.

import type { Waiter } from "./policy.ts";

export type Queue = {
  /** A player waits for one server; a newer request replaces the older one. */
  add: (waiter: Waiter) => void;
  leave: (player: string) => void;
  find: (player: string) => Waiter | undefined;
  all: () => readonly Waiter[];
  replace: (before: Waiter, after: Waiter) => void;
};

export function createQueue(): Queue {
  const waiters = new Map<string, Waiter>();
  return {
    add: (waiter) => void waiters.set(waiter.player, waiter),
    leave: (player) => void waiters.delete(player),
    find: (player) => waiters.get(player),
    all: () => [...waiters.values()],
    // Somebody who chose another server while we asked about the old one keeps the new wish.
    replace: (before, after) => {
      if (waiters.get(before.player) === before) waiters.set(after.player, after);
    },
  };
}
