// A task as it is typed, and as the contract has it. Pure.

import type { InputOf, schedules } from "@svc/proto";
import { CommandError } from "../output.ts";

export type ScheduleInput = Omit<InputOf<typeof schedules.create>, "name">;

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const allDays = 127;

/** `mon,fri` as bits, Sunday first. */
export function weekdaysOf(text: string | undefined): number {
  if (text === undefined) return allDays;
  let bits = 0;
  for (const word of text.toLowerCase().split(",")) {
    const day = days.indexOf(word.trim().slice(0, 3));
    if (day === -1) throw new CommandError(`--days ${text}: write days such as ${days.join(",")}`);
    bits |= 1 << day;
  }
  return bits;
}

/** Minutes since midnight. */
export function minuteOf(text: string): number {
  const [, hours = "", minutes = ""] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  const value = Number(hours) * 60 + Number(minutes);
  if (hours !== "" && Number(hours) < 24 && Number(minutes) < 60) return value;
  throw new CommandError(`--at ${text}: write a time such as 04:30`);
}

/** When a task runs, in words. */
export function timingOf(task: { every_minutes: number; minute_of_day: number; weekdays: number }): string {
  const clock = [Math.floor(task.minute_of_day / 60), task.minute_of_day % 60];
  const at = clock.map((part) => String(part).padStart(2, "0")).join(":");
  const when = task.every_minutes === 0 ? `at ${at}` : `every ${task.every_minutes} min`;
  if (task.weekdays === allDays) return when;
  return `${when}, ${days.filter((_, bit) => task.weekdays & (1 << bit)).join(" ")}`;
}
