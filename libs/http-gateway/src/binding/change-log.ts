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
/** Changes that are over and still stand in the order, beside as many as there are entries. */
const mostStale = 1_000;

/** Keeps the last change of each type and key: at most `entries` of them, for `keptMs`. */
export function createChangeLog<Facts>(limits: Limits): ChangeLog<Facts> {
  /** In the order of their last change. */
  const entries = new Map<string, Entry<Facts>>();
  /** The same with those that changed since, so that the newest are read without looking at all others. */
  let inOrder: Entry<Facts>[] = [];
  let knownFromMs = Number.POSITIVE_INFINITY;
  let lastMs = Number.NEGATIVE_INFINITY;

  const isLast = (entry: Entry<Facts>) => entries.get(idOf(entry)) === entry;
  const append = (entry: Entry<Facts>) => {
    const id = idOf(entry);
    entries.delete(id);
    entries.set(id, entry);
    inOrder.push(entry);
    if (inOrder.length > 2 * entries.size + mostStale) inOrder = [...entries.values()];
  };

  const forgetOldest = (nowMs: number) => {
    for (const [id, { atMs }] of entries) {
      if (entries.size <= limits.entries && nowMs - atMs <= limits.keptMs) return;
      entries.delete(id);
      knownFromMs = Math.max(knownFromMs, atMs + 1);
    }
  };
  return {
    note: ({ type, key }, notedMs, former) => {
      // A clock that was set back must not hide what came before.
      const atMs = Math.max(notedMs, lastMs);
      lastMs = atMs;
      const id = idOf({ type, key });
      const formers = [...(entries.get(id)?.formers ?? [])];
      if (former !== undefined) formers.push({ facts: former, atMs });
      const [first] = formers;
      if (first && formers.length > mostFormers) {
        formers.shift();
        knownFromMs = Math.max(knownFromMs, first.atMs + 1);
      }
      append({ type, key, atMs, formers });
      forgetOldest(atMs);
    },
    restart: (atMs) => {
      entries.clear();
      inOrder = [];
      knownFromMs = atMs;
      lastMs = atMs;
    },
    since: (second, nowMs) => {
      const fromMs = second * 1_000 - limits.overlapMs;
      if (fromMs < knownFromMs || fromMs < nowMs - limits.keptMs || fromMs > nowMs + limits.overlapMs)
        return undefined;
      const begin = inOrder.findLastIndex(({ atMs }) => atMs < fromMs) + 1;
      return inOrder
        .slice(begin)
        .filter(isLast)
        .map(({ type, key, formers }) => ({ type, key, formers: formers.map(({ facts }) => facts) }));
    },
  };
}

export function idOf({ type, key }: Change): string {
  return `${type} ${key}`;
}
