// When a task runs next: wall clock of its zone, exact over changes of the clock (docs/reference/schedules.md#next). Pure.

import { FixedOffsetZone, IANAZone, type Zone } from "luxon";

export type Timetable = {
  everyMinutes: number;
  minuteOfDay: number;
  /** Bit 0 is Sunday. */
  weekdays: number;
  timezone: string;
};

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
// Every weekday occurs at least once within eight days.
const scannedDays = 8;
const maxZones = 600;
const maxDays = 64;

/** A zone with its cached days: one lookup of the zone's rules serves every task of that day. */
type Clock = { zone: Zone; days: Map<number, DayOffsets> };
/** Offsets in minutes a day before and a day after a local day. */
type DayOffsets = { before: number; behind: number };
const clocks = new Map<string, Clock>();

/** True for a name of the time zone database. `Local` and bare offsets are none. */
export function isZone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && name.toLowerCase() !== "local" && IANAZone.isValidZone(name);
}

/**
 * The first run strictly after `after`, in Unix milliseconds. A local time that the clock skips runs earlier by what
 * was skipped (an hour in most zones), still in the offset before the jump; a local time that comes twice runs once,
 * the first time; a zone that is no longer known is UTC.
 */
export function nextRun(timetable: Timetable, after: number): number {
  const clock = clockOf(timetable.timezone);
  const today = Math.floor((after + offsetAt(clock, after) * minuteMs) / dayMs);
  let found: number | undefined;
  for (let day = today; day <= today + scannedDays; day++) {
    const candidate = firstOfDay({ timetable, clock, after }, day);
    if (candidate === undefined) continue;
    // A midnight that is skipped runs on the day before, so one more day may hold an earlier run.
    if (found !== undefined) return Math.min(found, candidate);
    found = candidate;
  }
  if (found === undefined) throw new Error("a timetable without a weekday has no next run");
  return found;
}

function clockOf(name: string): Clock {
  const known = clocks.get(name);
  if (known) return known;
  const clock = { zone: isZone(name) ? IANAZone.create(name) : FixedOffsetZone.utcInstance, days: new Map() };
  if (clocks.size < maxZones) clocks.set(name, clock);
  return clock;
}

// `day` counts days since 1970; its midnight is written as if it were one of UTC.
function offsetsOf({ zone, days }: Clock, day: number): DayOffsets {
  const known = days.get(day);
  if (known) return known;
  if (days.size >= maxDays) days.clear();
  const midnight = day * dayMs;
  const found = { before: zone.offset(midnight - dayMs), behind: zone.offset(midnight + 2 * dayMs) };
  days.set(day, found);
  return found;
}

function offsetAt(clock: Clock, at: number): number {
  const { before, behind } = offsetsOf(clock, Math.floor(at / dayMs));
  return before === behind ? before : clock.zone.offset(at);
}

type Search = { timetable: Timetable; clock: Clock; after: number };

function firstOfDay({ timetable, clock, after }: Search, day: number): number | undefined {
  const weekday = (((day + 4) % 7) + 7) % 7;
  if ((timetable.weekdays & (1 << weekday)) === 0) return undefined;
  const { before, behind } = offsetsOf(clock, day);
  let first: number | undefined;
  for (const minute of minutesOf(timetable)) {
    const local = day * dayMs + minute * minuteMs;
    const at = before === behind ? local - before * minuteMs : instantOf(clock.zone, local, [before, behind]);
    if (at > after && (first === undefined || at < first)) first = at;
    // Without a change of the clock the runs of a day come in order.
    if (first !== undefined && before === behind) return first;
  }
  return first;
}

function* minutesOf({ everyMinutes, minuteOfDay }: Timetable): Iterable<number> {
  if (everyMinutes === 0) return yield minuteOfDay;
  for (let minute = 0; minute < 24 * 60; minute += everyMinutes) yield minute;
}

// A local time is shown by one of the two offsets around a change, by both (the larger is the first occurrence), or
// by none; then the larger one, which holds after the jump, gives a moment before it.
function instantOf(zone: Zone, local: number, offsets: readonly [number, number]): number {
  const larger = Math.max(...offsets);
  const shown = [larger, Math.min(...offsets)]
    .map((offset) => ({ offset, at: local - offset * minuteMs }))
    .find(({ offset, at }) => zone.offset(at) === offset);
  return shown?.at ?? local - larger * minuteMs;
}
