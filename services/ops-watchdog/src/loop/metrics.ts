import { Counter, Gauge, type Registry } from "@svc/telemetry";

export type WatchdogMetrics = {
  dailyBundle: (at: Date | undefined, bytes: number) => void;
  damagedBundles: (count: number) => void;
  rehearsed: (at: Date | undefined) => void;
  report: (at: Date | undefined) => void;
  /** Tasks that may fail; their counts begin at 0. */
  tasks: (names: readonly string[]) => void;
  failed: (task: string) => void;
};

export function createMetrics(registry: Registry): WatchdogMetrics {
  const registers = [registry];
  const last = new Gauge({
    name: "svc_db_backup_last_success_timestamp_seconds",
    help: "Unix time of the newest undamaged daily bundle; 0 if there is none.",
    registers,
  });
  const size = new Gauge({
    name: "svc_db_backup_last_size_bytes",
    help: "Size of the newest undamaged daily bundle.",
    registers,
  });
  const damaged = new Gauge({
    name: "svc_db_backup_damaged_bundles",
    help: "Bundles in the folder that cannot be used: damaged, or without their digest.",
    registers,
  });
  const rehearsal = new Gauge({
    name: "svc_db_rehearsal_last_success_timestamp_seconds",
    help: "Unix time of the newest rehearsal that succeeded; 0 if there is none.",
    registers,
  });
  const report = new Gauge({
    name: "svc_update_report_timestamp_seconds",
    help: "Unix time of the newest update report; 0 if there is none.",
    registers,
  });
  const failures = new Counter({
    name: "svc_watchdog_task_failures_total",
    help: "Periodic tasks of ops-watchdog that failed, by task; they are retried.",
    labelNames: ["task"] as const,
    registers,
  });
  return {
    dailyBundle: (at, bytes) => {
      last.set((at?.getTime() ?? 0) / 1_000);
      size.set(bytes);
    },
    damagedBundles: (count) => damaged.set(count),
    rehearsed: (at) => rehearsal.set((at?.getTime() ?? 0) / 1_000),
    report: (at) => report.set((at?.getTime() ?? 0) / 1_000),
    tasks: (names) => {
      // Prometheus sees no increase in a series that begins at 1.
      for (const task of names) failures.inc({ task }, 0);
    },
    failed: (task) => failures.inc({ task }),
  };
}
