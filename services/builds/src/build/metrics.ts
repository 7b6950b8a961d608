import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";

export type BuildMetrics = {
  ended: (status: "succeeded" | "failed" | "cancelled", seconds: number) => void;
  unfinished: (count: { pending: number; building: number }) => void;
  droppedLines: (count: number) => void;
  /** Bytes of an image, and of those what the registry had from earlier builds. */
  pushed: (bytes: { bytes: number; reused_bytes?: number | undefined }) => void;
};

export function createBuildMetrics(registry: Registry): BuildMetrics {
  const registers = [registry];
  const failures = new Counter({
    name: "svc_image_build_failures_total",
    help: "Builds that failed.",
    registers,
  });
  const duration = createDurations(registry, {
    name: "svc_image_build_duration_seconds",
    help: "Duration of builds from their start to their end, by result.",
    labels: { result: ["succeeded", "failed", "cancelled"] },
    buckets: [5, 15, 60, 180, 600, 1_800],
  });
  const unfinished = new Gauge({
    name: "svc_image_builds",
    help: "Builds that wait for a slot (pending) or run (building).",
    labelNames: ["status"] as const,
    registers,
  });
  const dropped = new Counter({
    name: "svc_image_build_log_dropped_lines_total",
    help: "Lines left out of live logs because a build printed too fast.",
    registers,
  });
  const pushed = new Counter({
    name: "svc_image_build_pushed_bytes_total",
    help: "Bytes of built images that went to the registry (sent), or that it had from earlier builds (reused).",
    labelNames: ["source"] as const,
    registers,
  });
  return {
    ended: (status, seconds) => {
      duration({ result: status }, seconds);
      if (status === "failed") failures.inc();
    },
    unfinished: ({ pending, building }) => {
      unfinished.set({ status: "pending" }, pending);
      unfinished.set({ status: "building" }, building);
    },
    droppedLines: (count) => dropped.inc(count),
    pushed: ({ bytes, reused_bytes: reused = 0 }) => {
      pushed.inc({ source: "reused" }, reused);
      pushed.inc({ source: "sent" }, Math.max(0, bytes - reused));
    },
  };
}
