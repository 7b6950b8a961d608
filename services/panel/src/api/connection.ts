import { onlineManager, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { isAway } from "./error.ts";

/** Whether the browser has a network. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    (notify) => onlineManager.subscribe(notify),
    () => onlineManager.isOnline(),
  );
}

/** Whether the newest answer to something on the page was that nobody is there. */
export function useServiceAway(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (notify) => cache.subscribe(notify),
    () =>
      cache
        .getAll()
        .some((query) => query.isActive() && isAway(query.state.error ?? query.state.fetchFailureReason)),
  );
}
