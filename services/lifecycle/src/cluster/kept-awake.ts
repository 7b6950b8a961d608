// How long a server is kept from its idle stop (docs/reference/server-states.md#keep-awake). Pure.

import type { MinecraftServerSpec } from "@svc/proto";
import type { Server } from "./resource.ts";

/**
 * When it ends, in unix milliseconds; undefined when nobody asked for it. A bound that was lowered since counts: nothing
 * is kept for longer than that from when it was asked for.
 */
export function keptAwakeUntil({ spec }: Pick<Server, "spec">, longestMs: number): number | undefined {
  const { keptAwake } = spec.idle ?? {};
  if (keptAwake === undefined) return undefined;
  return Math.min(Date.parse(keptAwake.until), Date.parse(keptAwake.since) + longestMs);
}

/** What a stop writes that a person asked for: they no longer want it to stay awake. Null removes, as in a merge patch. */
export const stoppedByPerson = {
  desiredState: "Stopped",
  idle: { keptAwake: null },
} as const satisfies { desiredState: MinecraftServerSpec["desiredState"]; idle: { keptAwake: null } };
