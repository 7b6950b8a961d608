import type { schedules as contracts } from "@svc/proto";
import type { Selectable } from "kysely";
import type { SchedulesTable, TriggerEventsTable } from "../database/schema.ts";

export type ScheduleRow = Selectable<SchedulesTable>;
/** What a caller chooses. */
export type ScheduleSettings = Pick<
  ScheduleRow,
  | "action"
  | "label"
  | "command"
  | "every_minutes"
  | "minute_of_day"
  | "weekdays"
  | "timezone"
  | "warn_minutes"
  | "enabled"
  | "only_if"
  | "next_steps"
  | "trigger"
  | "trigger_minutes"
  | "pause_minutes"
>;

/** `next_run_at` of an enabled task with a trigger, which no clock runs. */
export const never = new Date("9999-12-31T00:00:00.000Z");

/** A run between two steps may be ended; any other has to be waited for. */
export function isBusy({ run_state, run_waits }: Pick<ScheduleRow, "run_state" | "run_waits">): boolean {
  return run_state !== "" && !run_waits;
}

export function toScheduleView(row: ScheduleRow): contracts.Schedule {
  return {
    id: row.id,
    server: row.server_name,
    label: row.label,
    action: row.action,
    command: row.command,
    every_minutes: row.every_minutes as contracts.Schedule["every_minutes"],
    minute_of_day: row.minute_of_day,
    weekdays: row.weekdays,
    timezone: row.timezone,
    warn_minutes: row.warn_minutes as contracts.Schedule["warn_minutes"],
    enabled: row.enabled,
    next_run_at: row.trigger === "" ? (row.next_run_at?.toISOString() ?? null) : null,
    run_state: row.run_state,
    last_run_at: row.last_run_at?.toISOString() ?? null,
    last_result: row.last_result,
    last_detail: row.last_detail,
    ...(row.last_code !== "" && { last_code: row.last_code }),
    ...(row.last_cause !== "" && { last_cause: row.last_cause }),
    ...(row.chain_code !== "" && { chain_code: row.chain_code }),
    ...(row.only_if !== "" && { only_if: row.only_if }),
    ...(row.next_steps.length > 0 && { next_steps: [...row.next_steps] }),
    ...(row.step_endings.length > 0 && { step_endings: [...row.step_endings] }),
    ...(row.run_state !== "" &&
      row.run_waits &&
      row.run_step_at && { waits_until: row.run_step_at.toISOString() }),
    ...triggerView(row),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}

function triggerView({
  trigger,
  trigger_minutes,
  pause_minutes,
  last_trigger: last,
}: ScheduleRow): Partial<contracts.Schedule> {
  return {
    ...(trigger !== "" && { trigger, pause_minutes }),
    ...(trigger === "server_empty" && { trigger_minutes }),
    ...(last && {
      last_trigger: { trigger: last.trigger, at: last.at, ...(last.about !== "" && { about: last.about }) },
    }),
  };
}

/** What happened lately for a task, as its owner sees it. */
export function toTriggerView({
  trigger,
  happened_at,
  about,
  due_at,
  outcome,
}: Selectable<TriggerEventsTable>): contracts.TriggerEvent {
  return {
    ...{ trigger, at: happened_at.toISOString(), outcome },
    ...(about !== "" && { about }),
    ...(outcome === "waiting" && { due_at: due_at.toISOString() }),
  };
}
