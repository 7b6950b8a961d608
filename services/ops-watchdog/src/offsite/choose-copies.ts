// Which copies a verification opens: all, or a sample (docs/reference/off-site.md#verification). Pure but for the dice.

import { randomInt } from "node:crypto";

export type Selection = {
  /** How many of each kind, chosen at random; everything without it. */
  sample: number | undefined;
  /** Keys that the last verification named: they are opened until they are intact or gone. */
  damaged: readonly string[];
};

type IsAlways = (key: string) => boolean;

export type Choice = {
  /** A sample of the keys, and those that are always opened. */
  some: (keys: readonly string[], isAlways?: IsAlways) => string[];
  /** Of a sample only those that are always opened. */
  only: (keys: readonly string[], isAlways: IsAlways) => string[];
};

export function chooseCopies({ sample, damaged }: Selection): Choice {
  if (sample === undefined) return { some: (keys) => [...keys], only: (keys) => [...keys] };
  const named = new Set(damaged);
  const split = (keys: readonly string[], isAlways: IsAlways) =>
    Map.groupBy(keys, (key) => named.has(key) || isAlways(key));
  return {
    some: (keys, isAlways = () => false) => {
      const groups = split(keys, isAlways);
      return [...(groups.get(true) ?? []), ...draw(groups.get(false) ?? [], sample)];
    },
    only: (keys, isAlways) => split(keys, isAlways).get(true) ?? [],
  };
}

function draw(from: readonly string[], count: number): string[] {
  const left = [...from];
  const drawn: string[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(...left.splice(randomInt(left.length), 1));
  return drawn;
}
