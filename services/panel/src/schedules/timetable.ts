// When a schedule runs, as the service computes it (docs/reference/schedules.md#next), with the marks of clock changes.

import type { Output } from "../api/operations.ts";
import { isZone, type Moment, momentBetween, offsetAt } from "../words/local-time.ts";

export type Schedule = Output<"schedules.list">["schedules"][number];
export type Timetable = Pick<Schedule, "minute_of_day" | "weekdays" | "timezone"> & { every_minutes: number };

const minuteMs = 60_000;
const minutesOfDay = 24 * 60;
const dayMs = minutesOfDay * minuteMs;
/** A task of one weekday that runs once a day has five runs in that many days. */
const scannedDays = 40;

/** The first runs strictly after a moment, in order. */
export function runsAfter(timetable: Timetable, after: number, count: number): readonly Moment[] {
  const { timezone, weekdays } = timetable;
  if (weekdays === 0) return [];
  const zone = isZone(timezone) ? timezone : "UTC";
  const found = new Map<number, Moment>();
  const today = Math.floor((after + offsetAt(zone, after)) / dayMs);
  for (let day = today - 1; day <= today + scannedDays; day++) {
    // A midnight that is skipped runs on the day before, so one more day may hold an earlier run.
    const isEnough = found.size >= count;
    for (const run of runsOfDay(timetable, zone, day)) {
      // Two local times may fall on one moment; what is said about the skipped one stays.
      if (run.at > after && (run.change || !found.has(run.at))) found.set(run.at, run);
    }
    if (isEnough) break;
  }
  return [...found.values()].sort((a, b) => a.at - b.at).slice(0, count);
}

// `day` counts days since 1970; its midnight is written as if it were one of UTC.
function runsOfDay(
  { every_minutes, minute_of_day, weekdays }: Timetable,
  zone: string,
  day: number,
): Moment[] {
  if ((weekdays & (1 << ((((day + 4) % 7) + 7) % 7))) === 0) return [];
  const midnight = day * dayMs;
  const before = offsetAt(zone, midnight - dayMs);
  const behind = offsetAt(zone, midnight + 2 * dayMs);
  return minutesOf(every_minutes, minute_of_day).map((wanted) =>
    momentBetween(zone, midnight + wanted * minuteMs, [before, behind]),
  );
}

function minutesOf(every: number, minuteOfDay: number): number[] {
  if (every === 0) return [minuteOfDay];
  return Array.from({ length: Math.ceil(minutesOfDay / every) }, (_, at) => at * every);
}
