// Reads again what changes concern: once, however many of them come together.

import type { Query, QueryClient } from "@tanstack/react-query";
import { type ChangeNotice, type Effect, effectOf, effectOfAll, untilReadMs } from "./change-effects.ts";

type ReadAgain = {
  /** Takes what has changed. */
  take: (notices: readonly ChangeNotice[]) => void;
  /** Anything may have changed. */
  takeAll: () => void;
  stop: () => void;
};

/** Data of one server is read at once, a list at most every second or few (`untilReadMs`). */
export function createReadAgain(client: QueryClient): ReadAgain {
  const cache = client.getQueryCache();
  const waiting = new Map<string, ReturnType<typeof setTimeout>>();
  const askedAt = new WeakMap<Query, number>();
  const read = (query: Query, effect: Effect) => {
    waiting.delete(query.queryHash);
    const { data, dataUpdatedAt, fetchStatus } = query.state;
    const rows = (data as { items?: unknown[] } | undefined)?.items?.length ?? 0;
    const lastAt = Math.max(dataUpdatedAt, askedAt.get(query) ?? 0);
    const ms = untilReadMs({ effect, rows, lastAt, isUnderWay: fetchStatus === "fetching" }, Date.now());
    if (ms > 0) {
      waiting.set(
        query.queryHash,
        setTimeout(() => read(query, effect), ms),
      );
      return;
    }
    askedAt.set(query, Date.now());
    void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  };
  const readWhere = (effectOn: (key: readonly unknown[]) => Effect | "none") => {
    for (const query of cache.getAll()) {
      if (waiting.has(query.queryHash)) continue;
      const effect = effectOn(query.queryKey);
      if (effect !== "none") read(query, effect);
    }
  };
  return {
    take: (notices) =>
      readWhere((key) => {
        for (const notice of notices) {
          const effect = effectOf(notice, key);
          if (effect !== "none") return effect;
        }
        return "none";
      }),
    takeAll: () => readWhere(effectOfAll),
    stop: () => {
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
