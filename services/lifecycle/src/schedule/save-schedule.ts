import { auditActor, type Context } from "@svc/mesh";
import { type AnyContract, Fault } from "@svc/proto";
import type { Audit } from "../database/audit.ts";
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

/** What an update leaves as it is when its caller does not name it, such as one who knows no chains. */
export function keptOf({ only_if, next_steps }: ScheduleRow): Pick<ScheduleInput, "only_if" | "next_steps"> {
  return { only_if, next_steps: [...next_steps] };
}

/** The audit entry of a caller's change of a task. */
export function auditOf(
  context: Pick<Context<AnyContract>, "principal" | "client" | "requestId">,
  action: string,
  row: ScheduleRow,
): Audit {
  return { ...auditActor(context), action, server_name: row.server_name, payload: payloadOf(row) };
}

function payloadOf(row: ScheduleRow): Record<string, unknown> {
  const { id, label, action, command, every_minutes, minute_of_day, weekdays, timezone, enabled } = row;
  const { only_if, next_steps } = row;
  const what = {
    ...(action === "command" && { command }),
    ...(only_if !== "" && { only_if }),
    ...(next_steps.length > 0 && { next_steps }),
  };
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
