import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";
import type { SummaryKey } from "./summary.ts";

export type ReaperMetrics = {
  counted: (key: SummaryKey, by: number) => void;
  /** A world volume was deleted. */
  worldDeleted: () => void;
  ended: (result: "succeeded" | "failed", seconds: number) => void;
  /** Of any replica, so that it survives a restart. */
  lastSuccess: (at: Date) => void;
};

export function createReaperMetrics(registry: Registry): ReaperMetrics {
  const registers = [registry];
  const events = new Counter({
    name: "svc_reaper_events_total",
    help: "Events of daily reaper runs, by key of their summary.",
    labelNames: ["event"] as const,
    registers,
  });
  const deleted = new Counter({
    name: "svc_reaper_worlds_deleted_total",
    help: "World volumes deleted after their archive was verified.",
    registers,
  });
  const duration = createDurations(registry, {
    name: "svc_reaper_run_duration_seconds",
    help: "Duration of daily reaper runs, by result.",
    labels: { result: ["succeeded", "failed"] },
    buckets: [1, 10, 60, 600, 3_600, 14_400],
  });
  const last = new Gauge({
    name: "svc_reaper_last_success_timestamp_seconds",
    help: "Unix time of the last successful reaper run of any replica; 0 if there was none.",
    registers,
  });
  return {
    counted: (event, by) => events.inc({ event }, by),
    worldDeleted: () => deleted.inc(),
    ended: (result, seconds) => duration({ result }, seconds),
    lastSuccess: (at) => last.set(at.getTime() / 1_000),
  };
}
