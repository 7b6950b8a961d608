// Which starts count for the estimate of the next one (docs/reference/server-states.md#estimate). Pure.

import { addStart, type StartDurations } from "../server/start-estimate.ts";
import { deadlineMsOf, type Observed } from "./observed.ts";

/** Times of pods are whole seconds, by the clock of the API server. */
const clockSlackMs = 2_000;

/** The durations once the server runs; the same as before unless a start has just succeeded. */
export function startDurationsAfter(observed: Observed, now: number): StartDurations | undefined {
  const { status, server } = observed;
  const seconds = startSecondsOf(observed, now);
  if (seconds === undefined) return status.startDurations;
  return addStart(status.startDurations, { image: server.spec.image, seconds });
}

function startSecondsOf(observed: Observed, now: number): number | undefined {
  const { status, pod } = observed;
  if (status.phase === "Running" || status.startRequestedAt === undefined) return undefined;
  const begun = Date.parse(status.startRequestedAt);
  // A server that was lost for a moment and answers again has not started.
  const isNewPod = Date.parse(pod?.metadata.creationTimestamp ?? "") >= begun - clockSlackMs;
  // Longer than a start may take: it had failed, or nobody watched when it succeeded.
  const longest = Math.max(
    deadlineMsOf(observed, "StartupTimeout"),
    deadlineMsOf(observed, "ReadinessTimeout"),
  );
  const isKnown = isNewPod && now >= begun && now - begun <= longest;
  return isKnown ? (now - begun) / 1_000 : undefined;
}
