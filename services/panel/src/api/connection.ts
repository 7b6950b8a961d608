import { onlineManager, type QueryState, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { isAway } from "./error.ts";

/** Whether the browser has a network. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    (notify) => onlineManager.subscribe(notify),
    () => onlineManager.isOnline(),
  );
}

/**
 * When the oldest data on screen that could not be read again was read, in milliseconds since 1970; when the newest was,
 * where nothing was asked for again yet. 0 without data.
 */
export function useDataAge(): number {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (notify) => cache.subscribe(notify),
    () => ageOf(cache.getAll().filter((query) => query.isActive())),
  );
}

type Reading = {
  state: Pick<QueryState, "dataUpdatedAt" | "error" | "fetchFailureReason" | "fetchStatus">;
};

export function ageOf(readings: readonly Reading[]): number {
  const read = readings.filter(({ state }) => state.dataUpdatedAt > 0);
  const stuck = read.filter(({ state }) => state.fetchStatus === "paused" || isStuck(state));
  const times = (of: readonly Reading[]) => of.map(({ state }) => state.dataUpdatedAt);
  return stuck.length > 0 ? Math.min(...times(stuck)) : Math.max(0, ...times(read));
}

function isStuck({ error, fetchFailureReason }: Reading["state"]): boolean {
  return isAway(error ?? fetchFailureReason);
}

/** Whether the newest answer to something on the page was that nobody is there. */
export function useServiceAway(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (notify) => cache.subscribe(notify),
    () => cache.getAll().some((query) => query.isActive() && isStuck(query.state)),
  );
}
