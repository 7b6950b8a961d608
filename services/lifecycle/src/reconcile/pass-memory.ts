import { type Memory, noMemory } from "./observed.ts";

/** What the process remembers between passes, by server. */
export type Memories = {
  of: (name: string) => Memory;
  /** Players are counted at once, and often for `windowMs`. */
  countSoon: (name: string, now: number, windowMs: number) => void;
  /** Takes over what a pass leaves, unless a join came while it ran. */
  keep: (name: string, before: Memory, after: Memory) => void;
  /** True the first time a request is seen. */
  isNew: (name: string, request: string) => boolean;
  forget: (name: string) => void;
};

export function createMemories(): Memories {
  const memories = new Map<string, Memory>();
  const requests = new Map<string, string>();
  const of = (name: string) => memories.get(name) ?? noMemory;
  return {
    of,
    countSoon: (name, now, windowMs) => {
      memories.set(name, { ...of(name), probedAt: 0, joinedUntil: now + windowMs });
    },
    keep: (name, before, after) => {
      if (of(name) !== before) return;
      const { misses, probedAt, joinedUntil, replacedPod } = after;
      const isBlank = misses === 0 && probedAt === 0 && joinedUntil === 0 && replacedPod === undefined;
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
