import { keptAwakeUntil } from "../cluster/kept-awake.ts";
import { idleLimitMs } from "../cluster/resource.ts";
import type { Observed, PlayerCount } from "./observed.ts";
import { iso } from "./status.ts";

type Idle =
  | { kind: "off" }
  /** The count is unknown: the clock neither starts nor is reset. */
  | { kind: "waits"; emptySince: string | undefined }
  | { kind: "busy" }
  | { kind: "empty"; emptySince: string; stopAt: number }
  | { kind: "over"; emptySince: string };

/** Where the idle clock stands after a count (docs/reference/server-states.md#idle-stop). */
export function decideIdle(observed: Observed, count: PlayerCount | undefined, now: number): Idle {
  const limitMs = idleLimitMs(observed.server);
  if (limitMs === 0) return { kind: "off" };
  const { status, settings } = observed;
  const before = status.phase === "Running" ? status.emptySince : undefined;
  if (count === undefined) return { kind: "waits", emptySince: before };
  if (count.online > 0) return { kind: "busy" };
  const readyAt = status.phase === "Running" && status.readySignalAt ? Date.parse(status.readySignalAt) : now;
  const isArriving = now - readyAt < settings.arrival_window;
  if (before === undefined && isArriving) return { kind: "waits", emptySince: undefined };
  const emptySince = before ?? iso(now);
  // The clock runs on while it is kept awake, so that it stops at the end when it was empty for long enough.
  const keptUntil = keptAwakeUntil(observed.server, settings.keep_awake_longest) ?? 0;
  const stopAt = Math.max(Date.parse(emptySince) + limitMs, keptUntil);
  return now >= stopAt ? { kind: "over", emptySince } : { kind: "empty", emptySince, stopAt };
}
