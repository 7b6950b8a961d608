import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";
import type { SummaryKey } from "./summary.ts";

export type ReaperMetrics = {
  counted: (key: SummaryKey, by: number) => void;
  /** A world volume was deleted. */
  worldDeleted: () => void;
  ended: (result: "succeeded" | "failed", seconds: number) => void;
  /** Packs of deduplicated archives: their bytes, and those that the archives would have as files. */
  packsSwept: (packs: { packBytes: number; archiveBytes: number }) => void;
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
  const packed = new Gauge({
    name: "svc_archive_pack_bytes",
    help: "Bytes of the packs that deduplicated archives share, as of the last retention run of this replica.",
    registers,
  });
  const logical = new Gauge({
    name: "svc_archive_deduplicated_bytes",
    help: "Bytes that the deduplicated archives would take as files, as of the last retention run of this replica.",
    registers,
  });
  return {
    packsSwept: ({ packBytes, archiveBytes }) => {
      packed.set(packBytes);
      logical.set(archiveBytes);
    },
    counted: (event, by) => events.inc({ event }, by),
    worldDeleted: () => deleted.inc(),
    ended: (result, seconds) => duration({ result }, seconds),
    lastSuccess: (at) => last.set(at.getTime() / 1_000),
  };
}
