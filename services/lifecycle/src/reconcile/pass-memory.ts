import { emptyMemory, type PassMemory } from "./observed.ts";

/** What the process remembers between passes, by server. */
export type PassMemories = {
  of: (name: string) => PassMemory;
  /** Has players counted at once, and often for `windowMs`. */
  countSoon: (name: string, now: number, windowMs: number) => void;
  /** Keeps what a pass leaves, unless a join was reported while it ran. */
  keep: (name: string, before: PassMemory, after: PassMemory) => void;
  /** True the first time a request is seen. */
  isNew: (name: string, request: string) => boolean;
  forget: (name: string) => void;
};

export function createPassMemories(): PassMemories {
  const memories = new Map<string, PassMemory>();
  const requests = new Map<string, string>();
  const of = (name: string) => memories.get(name) ?? emptyMemory;
  return {
    of,
    countSoon: (name, now, windowMs) => {
      memories.set(name, { ...of(name), probedAt: 0, joinedUntil: now + windowMs });
    },
    keep: (name, before, after) => {
      if (of(name) !== before) return;
      const { misses, probedAt, joinedUntil, replacedPod, lostPlayers } = after;
      const isTimed = misses > 0 || probedAt > 0 || joinedUntil > 0;
      const isBlank = !isTimed && replacedPod === undefined && lostPlayers === undefined;
      if (isBlank) memories.delete(name);
      else memories.set(name, after);
    },
    isNew: (name, request) => {
      if (requests.get(name) === request) return false;
      requests.set(name, request);
      return true;
    },
    forget: (name) => {
      memories.delete(name);
      requests.delete(name);
    },
  };
}
