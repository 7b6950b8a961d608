import { useSyncExternalStore } from "react";

const storageKey = "svc.keys";
const listeners = new Set<() => void>();

/** Whether single keys are shortcuts. */
export function hasSingleKeys(): boolean {
  return localStorage.getItem(storageKey) !== "off";
}

export function setSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, "off");
  for (const listener of listeners) listener();
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore((notify) => {
    listeners.add(notify);
    return () => listeners.delete(notify);
  }, hasSingleKeys);
}
