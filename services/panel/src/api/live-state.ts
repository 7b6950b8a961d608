import { useSyncExternalStore } from "react";
import { type LiveState, live } from "./live-updates.ts";

/** Whether changes are told as they happen. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(live.subscribe, live.state);
}
