// The order of a clone, on its object: rows that were not written, or lost, are made again from it (docs/reference/clones.md#killed).

import { clones } from "@svc/proto";
import { annotation, type Server } from "./resource.ts";

/** Undefined for a server that is no clone, or one without a world. */
export function orderOf({ metadata }: Server): clones.CloneOrder | undefined {
  const text = metadata.annotations?.[annotation.clone];
  if (text === undefined) return undefined;
  try {
    return clones.CloneOrder.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
