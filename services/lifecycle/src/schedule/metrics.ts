import { Counter, createDurations, type Registry } from "@svc/telemetry";
import type { Result } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

export type ScheduleMetrics = {
  ran: (action: ScheduleRow["action"], result: Result) => void;
  ticked: (result: "done" | "failed", seconds: number) => void;
};

export function createScheduleMetrics(registry: Registry): ScheduleMetrics {
  const runs = new Counter({
    name: "svc_schedule_runs_total",
    help: "Completed runs of scheduled tasks, by action and result.",
    labelNames: ["action", "result"] as const,
    registers: [registry],
  });
  const ticks = createDurations(registry, {
    name: "svc_schedule_tick_duration_seconds",
    help: "Duration of one tick: finding due tasks and working on them.",
    labels: { result: ["done", "failed"] },
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
  });
  return {
    ran: (action, result) => runs.inc({ action, result }),
    ticked: (result, seconds) => ticks({ result }, seconds),
  };
}
