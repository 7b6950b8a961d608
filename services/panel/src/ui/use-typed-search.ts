import { useEffect, useEffectEvent, useRef, useState } from "react";
import { restMs } from "./use-debounced.ts";

/**
 * What stands in a search field, and the function that changes it. `value` is the search of the address, which follows by `onChange`
 * once what is typed has rested: each change of the address draws every link of the page again.
 */
export function useTypedSearch(
  value: string,
  onChange: (value: string) => void,
): readonly [typed: string, setTyped: (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    // Changed by something else than this field, such as going back.
    if (value !== told.current) setTyped(value);
    told.current = value;
  }, [value]);
  const tell = useEffectEvent(() => {
    told.current = typed;
    onChange(typed);
  });
  useEffect(() => {
    if (typed === told.current) return;
    const timer = setTimeout(() => tell(), restMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}
