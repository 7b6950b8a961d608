import { backups } from "@svc/proto";
import { Counter, createDurations, Gauge, type Registry } from "@svc/telemetry";

export type StorageMetrics = {
  /** A world Job ended. */
  ended: (kind: JobKind, result: "succeeded" | "failed", seconds: number) => void;
  /** A backup was made, expired or marked corrupt. */
  counted: (what: "made" | "deleted" | "pruned" | "condemned", reason: string) => void;
  stored: (bytes: number, count: number) => void;
  reconciled: (result: "done" | "failed", seconds: number) => void;
  scheduledPaused: (isPaused: boolean) => void;
  /** Servers whose scheduled backup is due. */
  waiting: (servers: number) => void;
  /** How long the oldest running Job has delayed scheduled backups; 0 if none does. */
  slotHeld: (seconds: number) => void;
};

type JobKind = backups.WorldJob["kind"];

const jobKinds = backups.WorldJob.shape.kind.options;

export function createStorageMetrics(registry: Registry): StorageMetrics {
  const registers = [registry];
  const jobs = createDurations(registry, {
    name: "svc_backup_duration_seconds",
    help: "Duration of world Jobs from request to end, by kind and result.",
    labels: { kind: jobKinds, result: ["succeeded", "failed"] },
    buckets: [1, 3, 10, 30, 60, 180, 600, 1_800],
  });
  const backups = new Counter({
    name: "svc_backups_total",
    help: "Backups made, deleted, pruned or found corrupt, by reason.",
    labelNames: ["event", "reason"] as const,
    registers,
  });
  const bytes = new Gauge({
    name: "svc_backup_store_bytes",
    help: "Total size of all present backups.",
    registers,
  });
  const count = new Gauge({ name: "svc_backups_present", help: "Number of present backups.", registers });
  const reconcile = createDurations(registry, {
    name: "svc_storage_settle_duration_seconds",
    help: "Duration of one reconcile of all world Jobs.",
    labels: { result: ["done", "failed"] },
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
  });
  const paused = new Gauge({
    name: "svc_scheduled_backups_paused",
    help: "1 while scheduled backups are paused because the store is full.",
    registers,
  });
  const waiting = new Gauge({
    name: "svc_scheduled_backups_waiting",
    help: "Servers whose scheduled backup is due.",
    registers,
  });
  const slot = new Gauge({
    name: "svc_scheduled_backups_slot_seconds",
    help: "How long the oldest running Job has delayed scheduled backups; 0 if none does.",
    registers,
  });
  return {
    ended: (kind, result, seconds) => jobs({ kind, result }, seconds),
    counted: (event, reason) => backups.inc({ event, reason }),
    stored: (size, number) => {
      bytes.set(size);
      count.set(number);
    },
    reconciled: (result, seconds) => reconcile({ result }, seconds),
    waiting: (servers) => waiting.set(servers),
    slotHeld: (seconds) => slot.set(seconds),
    scheduledPaused: (isPaused) => paused.set(isPaused ? 1 : 0),
  };
}
