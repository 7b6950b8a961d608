// When a server that starts will be ready (docs/reference/server-states.md#estimate). Pure.
//
// | since the start began           | what is said             |
// |---------------------------------|--------------------------|
// | no start has succeeded yet      | nothing                  |
// | not begun, or less than p50     | about how long it takes  |
// | between p50 and p95             | any moment now           |
// | more than p95                   | longer than usual        |

import type { ServerInfo } from "@svc/proto";
import { type Language, sayDuration, sayIn } from "@svc/proto/language";

export type StartOutlook =
  | { kind: "unknown" | "soon" | "late" }
  /** Rounded, so that the figure does not tremble. */
  | { kind: "about"; seconds: number };

type Start = Pick<ServerInfo, "startEstimate" | "startRequestedAt">;

export function startOutlookOf(server: Start | undefined, now: number): StartOutlook {
  const { startEstimate, startRequestedAt } = server ?? {};
  if (!startEstimate) return { kind: "unknown" };
  const elapsed = startRequestedAt === undefined ? 0 : (now - Date.parse(startRequestedAt)) / 1_000;
  const left = startEstimate.p50 - Math.max(0, elapsed);
  if (left > 0) return { kind: "about", seconds: rounded(left) };
  return { kind: elapsed <= startEstimate.p95 ? "soon" : "late" };
}

function rounded(seconds: number): number {
  const step = seconds <= 10 ? 1 : seconds <= 60 ? 5 : 10;
  return Math.ceil(seconds / step) * step;
}

/** `40 s`, or `3 min` for what takes long. */
export function durationText(seconds: number, language: Language): string {
  return sayDuration(seconds, sayIn(language));
}
