import { useEffect, useState } from "react";

/** A filter answers within 100 ms where its rows are at hand; what the service has to search may wait this long. */
export const restMs = 150;

/** A value once it has rested, so that not every key that is typed becomes a request. */
export function useDebounced(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
