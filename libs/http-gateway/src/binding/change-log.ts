// What changed last and when, so that a stream goes on where it broke off (docs/reference/events.md#resume).

/** Something of a type changed at the entry of this key. */
export type Change = { type: string; key: string };

/** `formers`: what decided who hears of the entry before; whoever lost it hears of that as well. */
export type LoggedChange<Facts> = Change & { formers: readonly Facts[] };

type ChangeLog<Facts> = {
  note: (change: Change, atMs: number, former?: Facts) => void;
  /** Forgets everything: what happened before `atMs` is not known. */
  restart: (atMs: number) => void;
  /** What has changed since a unix second, each entry once; undefined when that is not known. */
  since: (second: number, nowMs: number) => LoggedChange<Facts>[] | undefined;
};

/** `overlapMs`: replicas hear of a change at different times and by different clocks; what comes twice does no harm. */
type Limits = { entries: number; keptMs: number; overlapMs: number };
type Former<Facts> = { facts: Facts; atMs: number };
type Entry<Facts> = Change & { atMs: number; formers: readonly Former<Facts>[] };

const mostFormers = 4;

/** Keeps the last change of each type and key: at most `entries` of them, for `keptMs`. */
export function createChangeLog<Facts>(limits: Limits): ChangeLog<Facts> {
  /** In the order of their last change. */
  const entries = new Map<string, Entry<Facts>>();
  let knownFromMs = Number.POSITIVE_INFINITY;

  const forgetOldest = (nowMs: number) => {
    for (const [id, { atMs }] of entries) {
      if (entries.size <= limits.entries && nowMs - atMs <= limits.keptMs) return;
      entries.delete(id);
      knownFromMs = Math.max(knownFromMs, atMs + 1);
    }
  };
  return {
    note: ({ type, key }, atMs, former) => {
      const id = idOf({ type, key });
      const formers = [...(entries.get(id)?.formers ?? [])];
      if (former !== undefined) formers.push({ facts: former, atMs });
      const [first] = formers;
      if (first && formers.length > mostFormers) {
        formers.shift();
        knownFromMs = Math.max(knownFromMs, first.atMs + 1);
      }
      entries.delete(id);
      entries.set(id, { type, key, atMs, formers });
      forgetOldest(atMs);
    },
    restart: (atMs) => {
      entries.clear();
      knownFromMs = atMs;
    },
    since: (second, nowMs) => {
      const fromMs = second * 1_000 - limits.overlapMs;
      if (fromMs < knownFromMs || fromMs < nowMs - limits.keptMs || fromMs > nowMs + limits.overlapMs)
        return undefined;
      return [...entries.values()]
        .filter(({ atMs }) => atMs >= fromMs)
        .map(({ type, key, formers }) => ({ type, key, formers: formers.map(({ facts }) => facts) }));
    },
  };
}

export function idOf({ type, key }: Change): string {
  return `${type} ${key}`;
}
