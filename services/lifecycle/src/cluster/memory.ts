import type { Node } from "@svc/kube";
import { parseQuantity } from "./quantity.ts";
import type { Server } from "./resource.ts";

/** Memory that pods may take on a node, in bytes; 0 while it has not said. */
export function memoryOf({ status }: Node): number {
  const text = status?.allocatable?.["memory"] ?? status?.capacity?.["memory"] ?? "";
  return Math.max(0, Math.floor(parseQuantity(text) ?? 0));
}

/** What a server may take, in bytes; 0 without a limit. */
export function limitOf({ spec }: Server): number {
  return Math.max(0, Math.floor(parseQuantity(spec.resources?.limits?.["memory"] ?? "") ?? 0));
}
