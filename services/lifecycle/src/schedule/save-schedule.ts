import { Fault } from "@svc/proto";
import { nextOf } from "./decide.ts";
import { validateInput, type ScheduleInput } from "./input.ts";
import type { Saved } from "./locked-server.ts";
import type { ScheduleRow } from "./row.ts";

/** What is stored for an input; throws `bad_schedule` or `bad_request`. */
export function toSavedSchedule(input: ScheduleInput, now: Date): Saved {
  const judged = validateInput(input);
  if (judged.kind === "refused") throw new Fault(judged.fault, { message: judged.message });
  const { settings } = judged;
  const next = settings.enabled ? new Date(nextOf({ row: settings, now: now.getTime() })) : null;
  return { ...settings, next_run_at: next };
}

/** What the audit log keeps of a task. */
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
