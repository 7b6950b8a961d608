import { Fault } from "@svc/proto";
import { nextOf } from "./decide.ts";
import { type ScheduleInput, validateInput } from "./input.ts";
import type { SavedSchedule } from "./locked-server.ts";
import type { ScheduleRow } from "./row.ts";

/** The columns for an input; throws `bad_schedule` or `bad_request`. */
export function toSavedSchedule(input: ScheduleInput, now: Date): SavedSchedule {
  const validated = validateInput(input);
  if (validated.kind === "refused") throw new Fault(validated.fault, { message: validated.message });
  const { settings } = validated;
  const next = settings.enabled ? new Date(nextOf({ row: settings, now: now.getTime() })) : null;
  return { ...settings, next_run_at: next };
}

/** What the audit log records of a task. */
export function auditPayload(row: ScheduleRow): Record<string, unknown> {
  const { id, label, action, command, every_minutes, minute_of_day, weekdays, timezone, enabled } = row;
  const what = action === "command" ? { command } : {};
  return {
    id,
    label,
    schedule_action: action,
    ...what,
    every_minutes,
    minute_of_day,
    weekdays,
    timezone,
    enabled,
  };
}
