// How close the rows of tables and lists stand; kept in this browser.

import { useSyncExternalStore } from "react";

export const densities = ["comfortable", "compact"] as const;
type Density = (typeof densities)[number];

const storageKey = "svc.density";
const listeners = new Set<() => void>();
/** A finger needs 44 px, so rows with something to press keep their height there. */
const coarse = window.matchMedia("(pointer: coarse)");

export function storedDensity(): Density {
  return localStorage.getItem(storageKey) === "compact" ? "compact" : "comfortable";
}

/** Marks the document; the comfortable one needs no mark. */
export function applyDensity(density: Density): void {
  if (density === "compact") document.documentElement.dataset["density"] = density;
  else delete document.documentElement.dataset["density"];
}

export function chooseDensity(density: Density): void {
  if (density === "compact") localStorage.setItem(storageKey, density);
  else localStorage.removeItem(storageKey);
  applyDensity(density);
  for (const listener of listeners) listener();
}

function follow(notify: () => void): () => void {
  listeners.add(notify);
  coarse.addEventListener("change", notify);
  return () => {
    listeners.delete(notify);
    coarse.removeEventListener("change", notify);
  };
}

export function useDensity(): Density {
  return useSyncExternalStore(follow, storedDensity);
}

/** The height of rows in pixels that are laid out by script. */
export type RowHeight = Record<Density, number>;

export function useRowPx(rowPx: RowHeight): number {
  return useSyncExternalStore(follow, () => rowPx[coarse.matches ? "comfortable" : storedDensity()]);
}
