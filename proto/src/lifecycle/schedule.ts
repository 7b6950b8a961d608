// Scheduled tasks of a server (docs/reference/schedules.md#task, docs/reference/schedules.md#run).
// Vocabulary: due = the time a task should run; claim = take a due run so that no other replica does; chain = a task with
// several steps; step = one action of a chain; trigger = what has to happen for a task that has no time.

import { z } from "zod";
import { event, nothing, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";

/** What a task does when it is due. */
export const scheduleActions = ["command", "restart", "stop", "start", "backup"] as const;
export const ScheduleAction = z.enum(scheduleActions);
export type ScheduleAction = z.output<typeof ScheduleAction>;

/** Minutes between two runs; 0 is once a day at `minute_of_day`. */
export const scheduleIntervals = [0, 15, 30, 60, 120, 180, 240, 360, 480, 720] as const;
/** Minutes before a run at which players are warned; 0 is never. */
export const scheduleWarnings = [0, 1, 5, 10, 15, 30] as const;

/** State of the current run; empty when none is running (docs/reference/schedules.md#run). */
export const RunState = z.enum(["", "claimed", "stopping", "backing_up", "starting"]);
export type RunState = z.output<typeof RunState>;

/** How the last run ended; empty before the first. */
export const RunResult = z.enum(["", "ok", "skipped", "failed", "missed"]);
export type RunResult = z.output<typeof RunResult>;

/** What `last_detail` says; the detail of a run without a code is what the game answered. */
export const RunCode = z.enum([
  "server_gone",
  "server_deleted",
  "owner_changed",
  "svc_was_down",
  "svc_interrupted",
  "server_not_running",
  "server_running",
  "started_by_somebody",
  "stop_late",
  "backup_late",
  "backup_not_started",
  "backup_refused",
  "backup_failed",
  "backup_incomplete",
  "start_refused",
  "command_not_sent",
]);
export type RunCode = z.output<typeof RunCode>;

/** The same for what chains, conditions and triggers bring; builds before them do not know these values. */
export const ChainCode = z.enum(["condition_not_met", "step_late", "run_cancelled", "event_late"]);
export type ChainCode = z.output<typeof ChainCode>;

/** What must be true when a step begins; otherwise it is skipped (docs/reference/schedules.md#conditions). */
export const stepConditions = [
  "empty",
  "players_online",
  "played_since_success",
  "previous_succeeded",
  "previous_failed",
] as const;
export const StepCondition = z.enum(stepConditions);
export type StepCondition = z.output<typeof StepCondition>;

/** Steps of one task, its own action among them. */
export const maxSteps = 10;
/** Seconds that a step waits at most after the one before it has ended. */
export const maxWaitSeconds = 3_600;

/** One step behind the first (docs/reference/schedules.md#chains). */
export const ScheduleStep = z.strictObject({
  action: ScheduleAction,
  /** Without a slash; empty for every action but `command`. */
  command: z.string(),
  /** After the step before it has ended. */
  wait_seconds: z.int().min(0).max(maxWaitSeconds),
  only_if: StepCondition.optional(),
});
export type ScheduleStep = z.output<typeof ScheduleStep>;

/** How one step of the last run, or of the one that is under way, ended. */
export const StepEnding = z.strictObject({
  result: RunResult.exclude([""]),
  detail: z.string(),
  code: RunCode.optional(),
  chain_code: ChainCode.optional(),
  cause: z.string().optional(),
});
export type StepEnding = z.output<typeof StepEnding>;

/** What a task may run on instead of the clock (docs/reference/schedules.md#triggers). */
export const scheduleTriggers = [
  "first_player_joined",
  "server_empty",
  "server_started",
  "server_crashed",
  "backup_failed",
] as const;
export const ScheduleTrigger = z.enum(scheduleTriggers);
export type ScheduleTrigger = z.output<typeof ScheduleTrigger>;

/** For how long a server is empty at most before `server_empty` runs a task. */
export const maxTriggerMinutes = 1_440;
/** Between two runs that a trigger begins. */
export const maxPauseMinutes = 1_440;
/** Both, where a caller says nothing. */
export const triggerDefaults = { minutes: 5, pause: 5 } as const;

/** What became of something that a trigger waits for (docs/reference/schedules.md#events). */
export const TriggerOutcome = z.enum(["waiting", "ran", "missed", "cancelled", "paused", "caused_by_itself"]);
export type TriggerOutcome = z.output<typeof TriggerOutcome>;

const triggered = {
  trigger: ScheduleTrigger,
  at: Timestamp,
  /** The cause of a crash, or the Job of a backup. */
  about: z.string().optional(),
};

export const TriggerEvent = z.strictObject({
  ...triggered,
  /** When it runs the task, while it waits. */
  due_at: Timestamp.optional(),
  outcome: TriggerOutcome,
});
export type TriggerEvent = z.output<typeof TriggerEvent>;

/** How many of the newest ones a task shows. */
export const shownTriggerEvents = 5;

/** One task as it is stored (docs/reference/schedules.md#task). */
export const Schedule = z.strictObject({
  id: z.int(),
  server: z.string(),
  label: z.string(),
  action: ScheduleAction,
  /** Without a slash; empty for every action but `command`. */
  command: z.string(),
  every_minutes: z.literal(scheduleIntervals),
  minute_of_day: z.int().min(0).max(1_439),
  /** Bit 0 is Sunday, bit 6 Saturday. */
  weekdays: z.int().min(1).max(127),
  timezone: z.string(),
  warn_minutes: z.literal(scheduleWarnings),
  enabled: z.boolean(),
  /** Null while the task is disabled, and of one with a trigger. */
  next_run_at: Timestamp.nullable(),
  run_state: RunState,
  last_run_at: Timestamp.nullable(),
  last_result: RunResult,
  last_detail: z.string(),
  last_code: RunCode.optional(),
  /** The fault behind `last_code`, where a request was refused. */
  last_cause: z.string().optional(),
  /** What `last_detail` says where no `last_code` does. */
  chain_code: ChainCode.optional(),
  /** Of the first step, which is the task's own action. */
  only_if: StepCondition.optional(),
  /** The steps behind the first, in order; absent for a task of one step. */
  next_steps: z.array(ScheduleStep).optional(),
  /** How the steps of a chain ended, in order, as far as they have. */
  step_endings: z.array(StepEnding).optional(),
  /** When the next step begins of a run that waits between two; `run_state` is `claimed` meanwhile. */
  waits_until: Timestamp.optional(),
  /** What it runs on instead of the clock. */
  trigger: ScheduleTrigger.optional(),
  /** How long the server has to be empty; of `server_empty` alone. */
  trigger_minutes: z.int().optional(),
  /** Shortest time between the beginnings of two runs that the trigger begins. */
  pause_minutes: z.int().optional(),
  /** What the last run was begun for, or was missed; absent when it was the clock, or somebody ran it by hand. */
  last_trigger: z.strictObject(triggered).optional(),
  /** What happened lately, the newest first; in lists alone. */
  trigger_events: z.array(TriggerEvent).optional(),
  created_by: z.string(),
  created_at: Timestamp,
});
export type Schedule = z.output<typeof Schedule>;

const conditionInput = z
  .string()
  .max(64)
  .meta({ type: "string", enum: ["", ...stepConditions] });
const commandInput = z.string().max(16_384).meta({ maxLength: 1_024 });
const actionInput = z
  .string()
  .max(64)
  .meta({ type: "string", enum: [...scheduleActions] });

const StepInput = z.strictObject({
  action: actionInput,
  command: commandInput.optional(),
  wait_seconds: z.number().meta({ type: "integer", minimum: 0, maximum: maxWaitSeconds }).optional(),
  only_if: conditionInput.optional(),
});

// Wider than what is accepted: a value out of range is `bad_schedule` of the owner, not `bad_request`.
const ScheduleInput = {
  action: actionInput,
  weekdays: z.number().meta({ type: "integer", minimum: 1, maximum: 127 }),
  timezone: z.string().max(256).meta({ description: "An IANA time zone such as Europe/Berlin." }),
  label: z.string().max(1_024).meta({ maxLength: 64 }).optional(),
  command: commandInput.optional(),
  every_minutes: z
    .number()
    .meta({ type: "integer", enum: [...scheduleIntervals] })
    .optional(),
  minute_of_day: z.number().meta({ type: "integer", minimum: 0, maximum: 1_439 }).optional(),
  warn_minutes: z
    .number()
    .meta({ type: "integer", enum: [...scheduleWarnings] })
    .optional(),
  enabled: z.boolean().optional(),
  only_if: conditionInput
    .meta({ description: "Condition of the first step; left out of an update it stays, empty is none." })
    .optional(),
  next_steps: z
    .array(StepInput)
    .max(100)
    .meta({
      maxItems: maxSteps - 1,
      description: "What follows the first step; left out of an update it stays.",
    })
    .optional(),
  trigger: z
    .string()
    .max(64)
    .meta({
      type: "string",
      enum: ["", ...scheduleTriggers],
      description: "Instead of a time; left out of an update it stays, empty is the clock.",
    })
    .optional(),
  trigger_minutes: z
    .number()
    .meta({ type: "integer", minimum: 0, maximum: maxTriggerMinutes, default: triggerDefaults.minutes })
    .optional(),
  pause_minutes: z
    .number()
    .meta({ type: "integer", minimum: 1, maximum: maxPauseMinutes, default: triggerDefaults.pause })
    .optional(),
};

const name = { name: ServerNameParam };
const task = {
  ...name,
  id: z.string().meta({ type: "integer", format: "int64", description: "Id of the schedule." }),
};
const path = "/api/v1/servers/{name}/schedules";
const external = { face: "external", tier: "app" } as const;

export const list = operation({
  subject: "lifecycle.schedule.list",
  http: { method: "GET", path, ...external, rights: ["schedules"] },
  params: name,
  output: z.strictObject({ server: z.string(), schedules: z.array(Schedule), limit: z.int() }),
  faults: ["bad_name", "not_found"],
  summary: "The scheduled tasks of a server, oldest first, and how many it may have.",
  spec: "docs/reference/schedules.md#task",
});

export const create = operation({
  subject: "lifecycle.schedule.create",
  http: {
    method: "POST",
    path,
    ...external,
    status: 201,
    rights: ["schedules", "command", "power", "backups.make"],
  },
  params: name,
  body: ScheduleInput,
  output: Schedule,
  faults: ["bad_name", "not_found", "bad_schedule", "schedule_limit"],
  onceById: true,
  summary: "Adds a scheduled task, bound to the server's current owner.",
  spec: "docs/reference/schedules.md#task",
});

export const update = operation({
  subject: "lifecycle.schedule.update",
  http: {
    method: "PUT",
    path: `${path}/{id}`,
    ...external,
    rights: ["schedules", "command", "power", "backups.make"],
  },
  params: task,
  body: ScheduleInput,
  output: Schedule,
  faults: ["bad_name", "bad_id", "not_found", "bad_schedule", "schedule_running"],
  onceById: true,
  summary:
    "Replaces a scheduled task; it is bound to the server's current owner, and its next run is computed again. A run that waits between two steps ends.",
  spec: "docs/reference/schedules.md#task",
});

export const remove = operation({
  subject: "lifecycle.schedule.remove",
  http: { method: "DELETE", path: `${path}/{id}`, ...external, status: 204, rights: ["schedules"] },
  params: task,
  output: nothing,
  faults: ["bad_name", "bad_id", "not_found", "schedule_running"],
  onceById: true,
  summary: "Deletes a scheduled task that is not running; a run that waits between two steps ends.",
  spec: "docs/reference/schedules.md#task",
});

export const runNow = operation({
  subject: "lifecycle.schedule.run-now",
  http: {
    method: "POST",
    path: `${path}/{id}/run`,
    ...external,
    status: 202,
    rights: ["schedules", "command", "power", "backups.make"],
  },
  params: task,
  output: Schedule,
  faults: ["bad_name", "bad_id", "not_found", "schedule_running", "schedule_stale"],
  // The first step has 30 s; what it takes to answer comes on top.
  deadlineMs: 40_000,
  summary: "Runs a task at once, also a disabled one, without a warning; its next run stays as it is.",
  spec: "docs/reference/schedules.md#task, docs/reference/schedules.md#run",
});

export const runFinished = event({
  subject: "lifecycle.schedule.run-finished",
  data: z.object({
    name: z.string(),
    id: z.number(),
    /** Of a chain: of the step that the result is about. */
    action: ScheduleAction,
    result: RunResult,
    detail: z.string(),
    code: RunCode.optional(),
    chain_code: ChainCode.optional(),
    cause: z.string().optional(),
    trigger: ScheduleTrigger.optional(),
    at: z.iso.datetime(),
  }),
  key: (data) => data.name,
  sample: {
    name: "survival",
    id: 1,
    action: "restart",
    result: "ok",
    detail: "",
    code: "start_refused",
    cause: "at_capacity",
    at: "2026-01-01T00:00:00.000Z",
  },
  listeners: ["gateway-external"],
  summary: "A scheduled task ran, was skipped, failed or was missed.",
});

export const scheduleChanged = event({
  subject: "lifecycle.schedule.changed",
  data: z.object({ name: z.string(), id: z.number(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", id: 1, at: "2026-01-01T00:00:00.000Z" },
  listeners: ["gateway-external"],
  summary: "A scheduled task was added, saved or deleted, or a run of it began.",
});
