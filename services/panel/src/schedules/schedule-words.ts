// A schedule and its last result in sentences.

import { isolate } from "../words/format.ts";
import type { Language } from "../words/language.ts";
import { clockOf } from "../words/local-time.ts";
import { visible } from "../words/visible.ts";
import type { Words } from "../words/words.ts";
import type { Schedule, Timetable } from "./timetable.ts";

/** Days as people count them: Monday first. */
export const weekOrder = [1, 2, 3, 4, 5, 6, 0] as const;
const everyDay = 127;
const shortestRange = 3;

/** The name of a day; 0 is Sunday. */
export function weekdayName(day: number, language: Language): string {
  // The first of November 2026 is a Sunday.
  const at = Date.UTC(2026, 10, 1 + day);
  return new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" }).format(at);
}

/** Days that follow each other, first and last. */
export function dayRanges(weekdays: number): readonly (readonly [first: number, last: number])[] {
  const ranges: (readonly [number, number])[] = [];
  let days: number[] = [];
  const close = () => {
    const [first, last] = [days[0], days.at(-1)];
    if (first === undefined || last === undefined) return;
    if (days.length >= shortestRange) ranges.push([first, last]);
    else ranges.push(...days.map((day) => [day, day] as const));
    days = [];
  };
  for (const day of weekOrder) {
    if (weekdays & (1 << day)) days.push(day);
    else close();
  }
  close();
  return ranges;
}

function daysWords({ schedules }: Words, weekdays: number, language: Language): string {
  if (weekdays === everyDay) return schedules.everyDay;
  return dayRanges(weekdays)
    .map(([first, last]) => {
      const name = weekdayName(first, language);
      return first === last ? name : schedules.dayRange(name, weekdayName(last, language));
    })
    .join(schedules.dayComma);
}

/** "At 03:00, Mon–Fri, Europe/Berlin". */
export function whenWords(words: Words, timetable: Timetable, language: Language): string {
  const { every_minutes: every, minute_of_day, weekdays, timezone } = timetable;
  const { schedules } = words;
  const times = every === 0 ? schedules.dailyAt(clockOf(minute_of_day)) : schedules.every(every);
  return [times, daysWords(words, weekdays, language), timezone].join(schedules.comma);
}

/** "The server is empty for 10 minutes, not again for 5 minutes". */
export function triggerWords(
  { schedules }: Words,
  {
    trigger,
    trigger_minutes: minutes = 0,
    pause_minutes: pause = 0,
  }: Schedule & Required<Pick<Schedule, "trigger">>,
): string {
  const isWaited = trigger === "server_empty" && minutes > 0;
  const what = isWaited ? schedules.emptyFor(minutes) : schedules.triggers[trigger];
  return [what, schedules.pauseOf(pause)].join(schedules.comma);
}

/** What happened, and the cause of a crash where it is known. */
export function happenedWords(
  words: Words,
  { trigger, about = "" }: NonNullable<Schedule["last_trigger"]>,
): string {
  const what = words.schedules.triggers[trigger];
  const causes: Readonly<Record<string, { title: string }>> = words.crashes.causes;
  const cause = trigger === "server_crashed" ? causes[about]?.title : undefined;
  return cause === undefined ? what : `${what}${words.schedules.comma}${cause}`;
}

/** Why the last run ended as it did, or what the game answered; empty when there is nothing to say. */
export function reasonWords(words: Words, schedule: Schedule): string {
  const { action, last_code: code, last_cause: cause, last_detail: detail, last_result: result } = schedule;
  const { chain_code } = schedule;
  return endingWords(words, action, {
    ...{ result, detail },
    ...(code !== undefined && { code }),
    ...(chain_code !== undefined && { chain_code }),
    ...(cause !== undefined && { cause }),
  });
}

type StepEnding = NonNullable<Schedule["step_endings"]>[number];
type RunEnding = Omit<StepEnding, "result"> & { result: Schedule["last_result"] };

/** The same of one step. */
export function endingWords(
  words: Words,
  action: Schedule["action"],
  { result, detail, cause = "", ...codes }: RunEnding,
): string {
  const code = codes.code ?? codes.chain_code;
  if (code === undefined) {
    const isAnswer = action === "command" && result === "ok" && detail !== "";
    return isAnswer ? words.schedules.answer(isolate(detail)) : detail;
  }
  const faults: Readonly<Record<string, string>> = words.faults;
  // The only fault of another name than its code that a request of a run meets.
  const why = faults[cause === "overloaded" ? "unavailable" : cause];
  const what = words.schedules.codes[code];
  return why === undefined ? what : words.schedules.because(what, why);
}

/** All steps of a schedule, its own action first. */
export function stepsOf({
  action,
  command,
  only_if,
  next_steps = [],
}: Schedule): NonNullable<Schedule["next_steps"]> {
  return [{ action, command, wait_seconds: 0, ...(only_if && { only_if }) }, ...next_steps];
}

/** What one step is: when, what, and on which condition. */
export function stepWords({ schedules }: Words, step: ReturnType<typeof stepsOf>[number]): string {
  const { action, command, wait_seconds: wait, only_if } = step;
  const what =
    action === "command"
      ? `${schedules.actions.command}: ${isolate(visible(command))}`
      : schedules.actions[action];
  const parts = [
    what,
    ...(wait === 0 ? [] : [schedules.afterWait(schedules.waits(wait))]),
    ...(only_if ? [schedules.conditions[only_if]] : []),
  ];
  return parts.join(" · ");
}

/** How a schedule without a label is called. */
export function titleWords({ schedules }: Words, schedule: Schedule): string {
  const what = schedules.actions[schedule.action];
  const more = schedule.next_steps?.length ?? 0;
  return more === 0 ? what : schedules.andMore(what, more);
}

/** A moment as the clock of a zone shows it. */
export function formatRun(at: number, zone: string, language: Language): string {
  return new Intl.DateTimeFormat(language, {
    ...{ timeZone: zone, weekday: "short", month: "short", day: "numeric" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  }).format(at);
}
