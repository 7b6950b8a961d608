import type { offsites } from "@svc/proto";
import { Counter, Gauge, type Registry } from "@svc/telemetry";

export type WatchdogMetrics = {
  dailyBundle: (at: Date | undefined, bytes: number) => void;
  /** Until when the archive of the log covers the database. */
  walReceived: (until: Date) => void;
  damagedBundles: (count: number) => void;
  rehearsed: (at: Date | undefined) => void;
  report: (at: Date | undefined) => void;
  /** Tasks that may fail; their counts begin at 0. */
  tasks: (names: readonly string[]) => void;
  offsite: (status: offsites.OffsiteStatus) => void;
  failed: (task: string) => void;
};

const gaugesOf =
  (registry: Registry) =>
  <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge<L>({ name, help, labelNames, registers: [registry] });

export function createMetrics(registry: Registry): WatchdogMetrics {
  const gauge = gaugesOf(registry);
  const last = gauge(
    "svc_db_backup_last_success_timestamp_seconds",
    "Unix time of the newest undamaged daily bundle; 0 if there is none.",
  );
  const size = gauge("svc_db_backup_last_size_bytes", "Size of the newest undamaged daily bundle.");
  const damaged = gauge(
    "svc_db_backup_damaged_bundles",
    "Bundles in the folder that cannot be used: damaged, or without their digest.",
  );
  const wal = gauge(
    "svc_wal_received_timestamp_seconds",
    "Unix time until which the archive of the write-ahead log covers the database, by this process; 0 if it archives none.",
  );
  const rehearsal = gauge(
    "svc_db_rehearsal_last_success_timestamp_seconds",
    "Unix time of the newest rehearsal that succeeded; 0 if there is none.",
  );
  const report = gauge(
    "svc_update_report_timestamp_seconds",
    "Unix time of the newest update report; 0 if there is none.",
  );
  const failures = new Counter({
    name: "svc_watchdog_task_failures_total",
    help: "Periodic tasks of ops-watchdog that failed, by task; they are retried.",
    labelNames: ["task"] as const,
    registers: [registry],
  });
  return {
    dailyBundle: (at, bytes) => {
      last.set((at?.getTime() ?? 0) / 1_000);
      size.set(bytes);
    },
    walReceived: (until) => wal.set(until.getTime() / 1_000),
    damagedBundles: (count) => damaged.set(count),
    rehearsed: (at) => rehearsal.set((at?.getTime() ?? 0) / 1_000),
    report: (at) => report.set((at?.getTime() ?? 0) / 1_000),
    tasks: (names) => {
      // Prometheus sees no increase in a series that begins at 1.
      for (const task of names) failures.inc({ task }, 0);
    },
    offsite: createOffsiteMetrics(registry),
    failed: (task) => failures.inc({ task }),
  };
}

function createOffsiteMetrics(registry: Registry): WatchdogMetrics["offsite"] {
  const gauge = gaugesOf(registry);
  const completed = gauge(
    "svc_offsite_last_success_timestamp_seconds",
    "Unix time at which the newest off-site pass without a failure ended; 0 if there is none.",
  );
  const begun = gauge(
    "svc_offsite_last_pass_timestamp_seconds",
    "Unix time at which the newest off-site pass began; 0 if there is none.",
  );
  const failed = gauge(
    "svc_offsite_failed_objects",
    "Objects that the newest off-site pass could not copy or delete.",
  );
  const damaged = gauge(
    "svc_offsite_damaged_objects",
    "Off-site copies that the newest verification found unusable and could not send again.",
  );
  const wal = gauge(
    "svc_offsite_wal_timestamp_seconds",
    "Unix time until which the copies of the write-ahead log cover the database; 0 if they do not or it is not archived.",
  );
  const state = gauge("svc_offsite_pass_state", "1 for the state of the newest off-site pass.", ["state"]);
  const objects = gauge("svc_offsite_objects", "Off-site copies in the bucket, by kind.", ["kind"]);
  const bytes = gauge("svc_offsite_bytes", "Sealed bytes of the off-site copies, by kind.", ["kind"]);
  const missing = gauge(
    "svc_offsite_missing_objects",
    "What has no off-site copy although it should, by kind.",
    ["kind"],
  );
  const notWhole = gauge("svc_offsite_not_whole_objects", "Off-site copies with the wrong size, by kind.", [
    "kind",
  ]);
  return (status) => {
    const secondsOf = (at: string | undefined) => (at === undefined ? 0 : Date.parse(at) / 1_000);
    completed.set(secondsOf(status.last_completed_at));
    begun.set(secondsOf(status.last?.started_at));
    failed.set(status.last?.failed ?? 0);
    damaged.set(status.damaged?.length ?? 0);
    wal.set(secondsOf(status.wal?.covered_until));
    state.reset();
    if (status.last) state.set({ state: status.last.state }, 1);
    const log = status.wal?.copies;
    for (const { kind, ...copies } of [...status.kinds, ...(log ? [{ kind: "wal", ...log }] : [])]) {
      objects.set({ kind }, copies.objects);
      bytes.set({ kind }, copies.bytes);
      missing.set({ kind }, copies.missing_count);
      notWhole.set({ kind }, copies.not_whole_count);
    }
  };
}
