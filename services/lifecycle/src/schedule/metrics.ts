import { Counter, Histogram, type Registry } from "@svc/telemetry";
import type { Result } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

export type ScheduleMetrics = {
  ran: (action: ScheduleRow["action"], result: Result) => void;
  ticked: (seconds: number, result: "done" | "failed") => void;
};

export function createScheduleMetrics(registry: Registry): ScheduleMetrics {
  const registers = [registry];
  const runs = new Counter({
    name: "svc_schedule_runs_total",
    help: "Completed runs of scheduled tasks, by action and result.",
    labelNames: ["action", "result"] as const,
    registers,
  });
  const ticks = new Histogram({
    name: "svc_schedule_tick_duration_seconds",
    help: "Duration of one tick: finding due tasks and working on them.",
    labelNames: ["result"] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers,
  });
  return {
    ran: (action, result) => runs.inc({ action, result }),
    ticked: (seconds, result) => ticks.observe({ result }, seconds),
  };
}
