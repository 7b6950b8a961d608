import { useCallback, useState } from "react";
import { nothing, type Selection } from "./selection.ts";

/**
 * What is chosen of the servers that a list shows; `shows` says which these are. Where it shows others nothing is chosen:
 * what nobody sees must not be acted on.
 */
export function useSelection(shows: string): readonly [Selection, (selection: Selection) => void] {
  const [kept, setKept] = useState({ shows, selection: nothing });
  const selection = kept.shows === shows ? kept.selection : nothing;
  // The same function as long as the same servers are shown, so that a key that is typed does not draw them again.
  const select = useCallback((next: Selection) => setKept({ shows, selection: next }), [shows]);
  return [selection, select];
}
