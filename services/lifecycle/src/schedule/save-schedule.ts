import { auditActor, type Context } from "@svc/mesh";
import { type AnyContract, Fault } from "@svc/proto";
import type { Audit } from "../database/audit.ts";
import { playersOf } from "./chain.ts";
import { nextOf } from "./decide.ts";
import type { ScheduleDeps } from "./deps.ts";
import { type ScheduleInput, validateInput } from "./input.ts";
import type { LockedServer, SavedSchedule } from "./locked-server.ts";
import { never, type ScheduleRow, type ScheduleSettings } from "./row.ts";

/** The columns for an input; throws `bad_schedule` or `bad_request`. */
export function toSavedSchedule(input: ScheduleInput, now: Date): SavedSchedule {
  const validated = validateInput(input);
  if (validated.kind === "refused") throw new Fault(validated.fault, { message: validated.message });
  const { settings } = validated;
  return { ...settings, next_run_at: settings.enabled ? nextRunOf(settings, now) : null };
}

function nextRunOf(settings: ScheduleSettings, now: Date): Date {
  return settings.trigger === "" ? new Date(nextOf({ row: settings, now: now.getTime() })) : never;
}

/** Remembers who is on the server of a task that waits for players to come or go. */
export async function watchFor(
  { servers }: Pick<ScheduleDeps, "servers">,
  { trigger, enabled, server_name }: ScheduleRow,
  { server, at }: { server: Pick<LockedServer, "watch">; at: Date },
): Promise<void> {
  if (!enabled || (trigger !== "first_player_joined" && trigger !== "server_empty")) return;
  const count = playersOf(servers.get(server_name));
  if (count !== "unknown") await server.watch(count === "none", at);
}

type Kept = Pick<ScheduleInput, "only_if" | "next_steps" | "trigger" | "trigger_minutes" | "pause_minutes">;

/** What an update leaves as it is when its caller does not name it, such as one who knows no chains or triggers. */
export function keptOf({ only_if, next_steps, trigger, trigger_minutes, pause_minutes }: ScheduleRow): Kept {
  return {
    ...{ only_if, next_steps: [...next_steps], trigger },
    ...(trigger === "server_empty" && { trigger_minutes }),
    ...(trigger !== "" && { pause_minutes }),
  };
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
  const { only_if, next_steps, trigger, trigger_minutes, pause_minutes } = row;
  const what = {
    ...(action === "command" && { command }),
    ...(only_if !== "" && { only_if }),
    ...(next_steps.length > 0 && { next_steps }),
    ...(trigger !== "" && { trigger, pause_minutes }),
    ...(trigger === "server_empty" && { trigger_minutes }),
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
