// Which tasks run when something happens, and which do not (docs/reference/schedules.md#triggers). Pure.

import type { schedules } from "@svc/proto";
import type { LastTrigger } from "../database/schema.ts";
import { type Count, playersOf, stepsOf } from "./chain.ts";
import type { Observed } from "./observed.ts";
import type { ScheduleRow } from "./row.ts";

const minuteMs = 60_000;

/** What happened on a server; `event` is the same however often it is seen. */
export type Happening = { event: string; trigger: schedules.ScheduleTrigger; at: Date; about: string };

/** Whether somebody is on a server, as it was last counted. */
export type Presence = { isEmpty: boolean; changedAt: Date; lookedAt: Date };

type PresencePlan =
  | { kind: "same" }
  /** Nothing is known of before: nothing has happened. */
  | { kind: "first"; isEmpty: boolean }
  | { kind: "changed"; isEmpty: boolean; happening: Happening; isLate: boolean };

/** What a look at the players of a server says. Of what happened while nobody looked the time is not known: it counts as the last look. */
export function decidePresence(
  known: Presence | undefined,
  { count, now, lateMs }: { count: Count; now: number; lateMs: number },
): PresencePlan {
  if (count === "unknown") return { kind: "same" };
  const isEmpty = count === "none";
  if (!known) return { kind: "first", isEmpty };
  if (known.isEmpty === isEmpty) return { kind: "same" };
  const isLate = now - known.lookedAt.getTime() > lateMs;
  const trigger = isEmpty ? "server_empty" : "first_player_joined";
  const at = isLate ? known.lookedAt : new Date(now);
  const happening: Happening = { event: `${trigger}-${now}`, trigger, at, about: "" };
  return { kind: "changed", isEmpty, happening, isLate };
}

/** When something runs a task. What was seen late is not waited for: it is missed. */
export function dueOf(
  { at, trigger, isLate = false }: Pick<Happening, "at" | "trigger"> & { isLate?: boolean },
  { trigger_minutes }: Pick<ScheduleRow, "trigger_minutes">,
): Date {
  return trigger === "server_empty" && !isLate ? new Date(at.getTime() + trigger_minutes * minuteMs) : at;
}

/** What a step may bring about without anybody's doing, but for players who come back. */
const mayBring: Readonly<Record<schedules.ScheduleAction, readonly schedules.ScheduleTrigger[]>> = {
  command: ["server_empty", "server_crashed"],
  stop: ["server_empty"],
  start: ["server_started", "server_crashed"],
  restart: ["server_empty", "first_player_joined", "server_started", "server_crashed"],
  backup: ["server_empty", "first_player_joined", "server_started", "server_crashed", "backup_failed"],
};

/** What begins behind a run still follows from it for so long, such as the start of a server. */
const afterRunMs = 10 * minuteMs;
/** Of a run whose end was not noted, because a build before triggers ended it. */
const longestRunMs = 2 * 60 * minuteMs;
/** Ends of processes are whole seconds. */
const slackMs = 2_000;

type Run = Pick<
  ScheduleRow,
  | "id"
  | "action"
  | "command"
  | "only_if"
  | "next_steps"
  | "run_state"
  | "last_run_at"
  | "run_ended_at"
  | "last_trigger"
>;

/** The tasks whose runs may have brought something about, and those that brought these runs about. */
export function causesOf(
  { at, trigger }: Pick<Happening, "at" | "trigger">,
  tasks: readonly Run[],
): number[] {
  const behind = tasks.filter(
    (task) =>
      isWithin(task, at.getTime()) && stepsOf(task).some(({ action }) => mayBring[action].includes(trigger)),
  );
  const ids = behind.flatMap(({ id, last_trigger }) => [id, ...(last_trigger?.causes ?? [])]);
  return [...new Set(ids)].sort((a, b) => a - b);
}

function isWithin({ run_state, last_run_at, run_ended_at }: Run, at: number): boolean {
  if (!last_run_at || at < last_run_at.getTime() - slackMs) return false;
  if (run_state !== "") return true;
  const isNoted = run_ended_at !== null && run_ended_at >= last_run_at;
  return at <= (isNoted ? run_ended_at.getTime() + afterRunMs : last_run_at.getTime() + longestRunMs);
}

/** Something that happened, for one task. */
export type Waiting = Happening & { due: Date; causes: readonly number[] };

/** The outcome of an event for a task that was waiting for it. */
export type TriggerPlan =
  | { kind: "rest" }
  | { kind: "drop"; outcome: "cancelled" | "paused" | "caused_by_itself" }
  | { kind: "disable" }
  | { kind: "miss" }
  | { kind: "run" };

/** `owner` and `server` are as in `Observed`. Every outcome but `rest` is final. */
export function decideTrigger(
  waiting: Pick<Waiting, "trigger" | "at" | "due" | "causes">,
  { row, owner, server, now, settings }: Omit<Observed, "lastPlayedAt">,
): TriggerPlan {
  const isOfTask = row.enabled && row.trigger === waiting.trigger && waiting.at >= row.updated_at;
  if (!isOfTask) return { kind: "drop", outcome: "cancelled" };
  if (owner === undefined || owner !== row.owner_id) return { kind: "disable" };
  const due = waiting.due.getTime();
  if (now < due) return { kind: "rest" };
  if (waiting.causes.includes(row.id)) return { kind: "drop", outcome: "caused_by_itself" };
  const pausedUntil = (row.last_fired_at?.getTime() ?? -Infinity) + row.pause_minutes * minuteMs;
  if (due < pausedUntil) return { kind: "drop", outcome: "paused" };
  if (now - due > settings.schedule_missed_after) return { kind: "miss" };
  // Another run of it is under way, or somebody has joined, which the next look at the players finds.
  const isHeldUp =
    row.run_state !== "" || (waiting.trigger === "server_empty" && playersOf(server) === "some");
  return isHeldUp ? { kind: "rest" } : { kind: "run" };
}

/** As the row of a task keeps what its run was begun for. */
export function lastTriggerOf({ event, trigger, at, about, causes }: Waiting): LastTrigger {
  return { event, trigger, at: at.toISOString(), about, causes };
}
