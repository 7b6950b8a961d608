// Cron expressions of five fields: minute, hour, day of month, month, day of week.

export type Schedule = (date: Date) => boolean;

const MACROS: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS = [
  { low: 0, high: 59, names: [] as string[] },
  { low: 0, high: 23, names: [] as string[] },
  { low: 1, high: 31, names: [] as string[] },
  { low: 1, high: 12, names: ["", ...MONTHS] },
  { low: 0, high: 7, names: DAYS },
];
const MINUTE_MS = 60_000;

function numberOf(text: string, { low, high, names }: (typeof FIELDS)[number]): number {
  const named = names.indexOf(text.toLowerCase());
  const value = named > -1 && text !== "" ? named : Number(text);
  if (!/^\d+$|^[a-z]{3}$/i.test(text) || !Number.isInteger(value) || value < low || value > high) {
    throw new Error(`"${text}" is not a number from ${low} to ${high}`);
  }
  return value;
}

function parseField(text: string, field: (typeof FIELDS)[number]): Set<number> {
  const chosen = new Set<number>();
  for (const part of text.split(",")) {
    const [range = "", stepText] = part.split("/");
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!Number.isInteger(step) || step < 1) throw new Error(`"${part}" has a bad step`);
    const [from = "", to] = range.split("-");
    const any = range === "*" || range === "?";
    const first = any ? field.low : numberOf(from, field);
    const last = any
      ? field.high
      : to === undefined
        ? stepText === undefined
          ? first
          : field.high
        : numberOf(to, field);
    for (let value = first; value <= last; value += step) chosen.add(value);
  }
  return chosen;
}

/** Parses a schedule; throws an error that names the bad part. Days of month and week are alternatives when both are set. */
export function parseSchedule(text: string): Schedule {
  const parts = (MACROS[text.trim()] ?? text.trim()).split(/\s+/);
  if (parts.length !== 5) throw new Error(`"${text}" does not have five fields`);
  const sets = parts.map((part, at) => parseField(part, FIELDS[at] as (typeof FIELDS)[number]));
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ];
  if (weekdays.has(7)) weekdays.add(0);
  const free = [parts[2], parts[4]].some((part) => part?.startsWith("*") || part === "?");
  return (date) => {
    const day = days.has(date.getUTCDate());
    const weekday = weekdays.has(date.getUTCDay());
    return (
      minutes.has(date.getUTCMinutes()) &&
      hours.has(date.getUTCHours()) &&
      months.has(date.getUTCMonth() + 1) &&
      (free ? day && weekday : day || weekday)
    );
  };
}

/** The latest time at or before `nowMs` and after `sinceMs` at which the schedule is due (UTC). */
export function lastDueMs(schedule: Schedule, sinceMs: number, nowMs: number): number | undefined {
  for (let at = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS; at > sinceMs; at -= MINUTE_MS) {
    if (schedule(new Date(at))) return at;
  }
  return undefined;
}

/** How long until the next whole minute, when a schedule can become due. */
export function untilNextMinuteMs(nowMs: number): number {
  return MINUTE_MS - (nowMs % MINUTE_MS) + 10;
}
