// Moments and the clocks of time zones, with the marks of clock changes (docs/reference/schedules.md#next). Pure.

/** A local time that the clock skips or shows twice; minutes of the day. */
type ClockChange = { kind: "skipped"; wanted: number; shown: number } | { kind: "doubled"; wanted: number };

export type Moment = { at: number; change?: ClockChange };

const minuteMs = 60_000;
const minutesOfDay = 24 * 60;
const dayMs = minutesOfDay * minuteMs;

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

/** The zone of this browser. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A time that comes twice is the first one; one that is skipped is earlier by what was skipped. */
export function momentBetween(zone: string, local: number, offsets: readonly [number, number]): Moment {
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
function momentOf(zone: string, local: number): Moment {
  return momentBetween(zone, local, [offsetAt(zone, local - dayMs), offsetAt(zone, local + dayMs)]);
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

/** Seconds may follow. */
const fieldText = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d/;

/** The moment in a field of local time, `2026-11-23T02:00`; undefined when it is not whole. */
export function momentOfField(text: string, zone: string): Moment | undefined {
  const local = fieldText.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(local) ? undefined : momentOf(zone, local);
}

/** A moment as a field of local time shows it, to the minute. */
export function fieldOf(at: string, zone: string): string {
  const moment = Date.parse(at);
  return new Date(moment + offsetAt(zone, moment)).toISOString().slice(0, 16);
}
