// When a schedule runs, as the service computes it (docs/reference/schedules.md#next), with the marks of clock changes.

import type { Output } from "../api/operations.ts";

export type Schedule = Output<"schedules.list">["schedules"][number];
export type Timetable = Pick<Schedule, "minute_of_day" | "weekdays" | "timezone"> & { every_minutes: number };

/** A local time that the clock skips or shows twice; minutes of the day. */
type ClockChange = { kind: "skipped"; wanted: number; shown: number } | { kind: "doubled"; wanted: number };

export type Run = { at: number; change?: ClockChange };

const minuteMs = 60_000;
const minutesOfDay = 24 * 60;
const dayMs = minutesOfDay * minuteMs;
/** A task of one weekday that runs once a day has five runs in that many days. */
const scannedDays = 40;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether a name is one of the time zone database. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || name.toLowerCase() === "local") return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The first runs strictly after a moment, in order. */
export function runsAfter(timetable: Timetable, after: number, count: number): readonly Run[] {
  const { timezone, weekdays } = timetable;
  if (weekdays === 0) return [];
  const zone = isZone(timezone) ? timezone : "UTC";
  const found = new Map<number, Run>();
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
function runsOfDay({ every_minutes, minute_of_day, weekdays }: Timetable, zone: string, day: number): Run[] {
  if ((weekdays & (1 << ((((day + 4) % 7) + 7) % 7))) === 0) return [];
  const midnight = day * dayMs;
  const before = offsetAt(zone, midnight - dayMs);
  const behind = offsetAt(zone, midnight + 2 * dayMs);
  return minutesOf(every_minutes, minute_of_day).map((wanted) =>
    runAt(zone, midnight + wanted * minuteMs, [before, behind]),
  );
}

function minutesOf(every: number, minuteOfDay: number): number[] {
  if (every === 0) return [minuteOfDay];
  return Array.from({ length: Math.ceil(minutesOfDay / every) }, (_, at) => at * every);
}

/** A time that comes twice runs the first time; one that is skipped runs earlier by what was skipped. */
function runAt(zone: string, local: number, offsets: readonly [number, number]): Run {
  if (offsets[0] === offsets[1]) return { at: local - offsets[0] };
  const larger = Math.max(...offsets);
  const smaller = Math.min(...offsets);
  const wanted = (((local / minuteMs) % minutesOfDay) + minutesOfDay) % minutesOfDay;
  const first = local - larger;
  const second = local - smaller;
  const isFirst = offsetAt(zone, first) === larger;
  const isSecond = offsetAt(zone, second) === smaller;
  if (isFirst && isSecond) return { at: first, change: { kind: "doubled", wanted } };
  if (isFirst) return { at: first };
  if (isSecond) return { at: second };
  return { at: first, change: { kind: "skipped", wanted, shown: minuteAt(zone, first) } };
}

/** The moment that the clock of a zone shows as `local`, which is written as if it were of UTC; by the rule of schedules. */
export function momentOf(zone: string, local: number): Run {
  return runAt(zone, local, [offsetAt(zone, local - dayMs), offsetAt(zone, local + dayMs)]);
}

function minuteAt(zone: string, at: number): number {
  return Math.floor((at + offsetAt(zone, at)) / minuteMs) % minutesOfDay;
}

/** What a zone adds to UTC at a moment, in milliseconds. */
export function offsetAt(zone: string, at: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  return shown - Math.floor(at / 1_000) * 1_000;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone: zone, hourCycle: "h23", calendar: "iso8601", numberingSystem: "latn" },
    ...{ year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric", second: "numeric" },
  });
  formats.set(zone, format);
  return format;
}

/** `545` minutes are `09:05`. */
export function clockOf(minuteOfDay: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minuteOfDay / 60))}:${two(minuteOfDay % 60)}`;
}
