import { useEffect, useState } from "react";

const pauseMs = 300;

/** A value once it has rested, so that not every key that is typed becomes a request. */
export function useDebounced(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
