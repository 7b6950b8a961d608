import type { ClusterDeps } from "./deps.ts";
import type { BuildRow } from "./row.ts";

/** Counts and logs the end of a build. */
export function tell(
  { metrics, log, now }: Pick<ClusterDeps, "metrics" | "log" | "now">,
  row: BuildRow,
): void {
  const { id, status, image_ref, error } = row;
  if (status === "pending" || status === "building") return;
  metrics.ended(status, row.started_at ? Math.max(0, (now() - row.started_at.getTime()) / 1_000) : 0);
  if (status === "failed") log.warn({ build: id, image: image_ref, error }, "build failed");
  else log.info({ build: id, image: image_ref, digest: row.image_digest }, `build ${status}`);
}
