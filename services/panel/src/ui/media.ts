import { useSyncExternalStore } from "react";

const narrow = window.matchMedia("(max-width: 720px)");

/** Whether the page is as narrow as a phone. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (notify) => {
      narrow.addEventListener("change", notify);
      return () => narrow.removeEventListener("change", notify);
    },
    () => narrow.matches,
  );
}
