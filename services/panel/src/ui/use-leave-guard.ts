import { useEffect, useEffectEvent } from "react";

/**
 * Asks before the tab is closed or loaded anew while something is under way that would end; `isStill` is asked at that
 * moment, before the page has drawn an end.
 */
export function useLeaveGuard(isRunning: boolean, isStill: () => boolean): void {
  const ask = useEffectEvent((event: BeforeUnloadEvent) => {
    if (isStill()) event.preventDefault();
  });
  useEffect(() => {
    if (!isRunning) return;
    const listener = (event: BeforeUnloadEvent) => ask(event);
    window.addEventListener("beforeunload", listener);
    return () => window.removeEventListener("beforeunload", listener);
  }, [isRunning]);
}
