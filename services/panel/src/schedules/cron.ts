// A pasted cron line as the steps of a schedule, where they can say it.

import { isZone } from "../words/local-time.ts";

type Steps = { every: number; minuteOfDay: number; weekdays: number; timezone?: string };
/** Why a line is not translated: not five fields, a field that is none, days of the month, or times the steps cannot say. */
type CronProblem = "fields" | "value" | "dates" | "irregular";
type Translation = { kind: "steps"; steps: Steps } | { kind: "refused"; problem: CronProblem };

const aliases: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const minutesOfDay = 24 * 60;

const refused = (problem: CronProblem): Translation => ({ kind: "refused", problem });

/** Translates a line of five fields, an alias such as `@daily`, or either behind `CRON_TZ=<zone>`. */
export function translateCron(line: string, intervals: readonly number[]): Translation {
  const [, timezone, rest = ""] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/i.exec(line.trim()) ?? [];
  if (timezone !== undefined && !isZone(timezone)) return refused("value");
  const fields = (aliases[rest.toLowerCase()] ?? rest).split(/\s+/);
  if (fields.length !== 5) return refused("fields");
  const [minute = "", hour = "", date = "", month = "", weekday = ""] = fields;
  const minutes = valuesOf(minute, 0, 59);
  const hours = valuesOf(hour, 0, 23);
  const dates = valuesOf(date, 1, 31);
  const months = valuesOf(month, 1, 12);
  const days = valuesOf(
    weekday
      .toLowerCase()
      .replace(/-sun$/, "-7")
      .replace(/[a-z]+/g, numberOfDay),
    0,
    7,
  );
  if (!minutes || !hours || !dates || !months || !days) return refused("value");
  if (dates.length < 31 || months.length < 12) return refused("dates");
  const times = hours.flatMap((h) => minutes.map((m) => h * 60 + m));
  const weekdays = days.reduce((mask, day) => mask | (1 << (day % 7)), 0);
  const zone = timezone === undefined ? {} : { timezone };
  if (times.length === 1)
    return { kind: "steps", steps: { every: 0, minuteOfDay: times[0] ?? 0, weekdays, ...zone } };
  const every = minutesOfDay / times.length;
  const isRegular = intervals.includes(every) && times.every((time, at) => time === at * every);
  if (!isRegular) return refused("irregular");
  return { kind: "steps", steps: { every, minuteOfDay: 0, weekdays, ...zone } };
}

function numberOfDay(name: string): string {
  const at = weekdayNames.indexOf(name);
  return at === -1 ? name : String(at);
}

/** The values of a field such as `1-5` or `0,30`, in order; undefined for what is not a field. */
function valuesOf(field: string, least: number, most: number): number[] | undefined {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const match = /^(?:[*?]|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) return undefined;
    const [, given, end, stride] = match;
    const step = Number(stride ?? 1);
    const from = given === undefined ? least : Number(given);
    // `5/15` goes on to the end of the range.
    const to =
      given === undefined || (end === undefined && stride !== undefined) ? most : Number(end ?? given);
    if (step === 0 || from < least || to > most || from > to) return undefined;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}
