// When a task runs next: wall clock of its zone, exact over changes of the clock (behaviour.md i.3). Pure.

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
// From any moment the same weekday comes again within eight days.
const scannedDays = 8;
const zones = new Map<string, Zone>();
const zonesAtMost = 600;

/** True for a name of the time zone database. `Local` and bare offsets are none. */
export function isZone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && name.toLowerCase() !== "local" && IANAZone.isValidZone(name);
}

/**
 * The first run strictly after `after`, in Unix milliseconds. A local time that the clock skips runs earlier by what
 * was skipped (an hour in most zones), still in the offset before the jump; a local time that comes twice runs once,
 * the first time; a zone that is not known any more is UTC.
 */
export function nextRun(timetable: Timetable, after: number): number {
  const zone = zoneOf(timetable.timezone);
  const today = Math.floor((after + zone.offset(after) * minuteMs) / dayMs);
  let found: number | undefined;
  for (let day = today; day <= today + scannedDays; day++) {
    const candidate = firstOfDay({ timetable, zone, after }, day);
    if (candidate === undefined) continue;
    // A midnight that is skipped runs on the day before, so one more day may hold an earlier run.
    if (found !== undefined) return Math.min(found, candidate);
    found = candidate;
  }
  if (found === undefined) throw new Error("a timetable without a weekday has no next run");
  return found;
}

function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  const zone = isZone(name) ? IANAZone.create(name) : FixedOffsetZone.utcInstance;
  if (zones.size < zonesAtMost) zones.set(name, zone);
  return zone;
}

type Search = { timetable: Timetable; zone: Zone; after: number };

// `day` counts local days since 1970; it is written as if its midnight were one of UTC.
function firstOfDay({ timetable, zone, after }: Search, day: number): number | undefined {
  const weekday = (((day + 4) % 7) + 7) % 7;
  if ((timetable.weekdays & (1 << weekday)) === 0) return undefined;
  const midnight = day * dayMs;
  const before = zone.offset(midnight - dayMs);
  const behind = zone.offset(midnight + 2 * dayMs);
  let first: number | undefined;
  for (const minute of minutesOf(timetable)) {
    const local = midnight + minute * minuteMs;
    const at = before === behind ? local - before * minuteMs : instantOf(zone, local, [before, behind]);
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
