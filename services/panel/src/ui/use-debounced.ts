import { startTransition, useEffect, useRef, useState } from "react";

/** What the service has to search is asked for at the first key, and then not more often than this. */
export const restMs = 150;

/** A value at once after a rest, and while it keeps changing only once it has rested: not every key that is typed becomes a request. */
export function useDebounced(value: string): string {
  const [rested, setRested] = useState(value);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  const known = useRef(value);
  useEffect(() => {
    if (known.current === value) return;
    known.current = value;
    const now = performance.now();
    const isFirst = now - changedAt.current >= restMs;
    changedAt.current = now;
    // The key itself is answered first.
    const rest = () => startTransition(() => setRested(value));
    if (isFirst) return rest();
    const timer = setTimeout(rest, restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
