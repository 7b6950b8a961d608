import { parseDuration } from "@svc/config";
import { UsageError } from "./output.ts";

/** Parses a span back from now, a date (midnight in local time) or a time. */
export function momentOf(text: string, option: string, now = new Date()): Date {
  const span = parseDuration(text);
  if (span !== undefined) return new Date(now.getTime() - span);
  const at = midnightOf(text) ?? timeOf(text);
  if (at) return at;
  throw new UsageError(
    `${option} ${text}: write a span such as 90s, 1h or 2d, a date such as 2026-11-20 or a time such as 2026-11-20T14:00:00Z`,
  );
}

/** Parses when something ends: a date with all of that day, in local time, or a time. */
export function endOf(text: string, option: string): Date {
  const midnight = midnightOf(text);
  if (midnight) return new Date(midnight.getFullYear(), midnight.getMonth(), midnight.getDate() + 1);
  const at = timeOf(text);
  if (at) return at;
  throw new UsageError(
    `${option} ${text}: write a date such as 2026-12-31, which counts to its end, or a time such as 2026-12-31T18:00:00Z`,
  );
}

/** Parses when something begins: a date with all of that day, in local time, or a time. */
export function startOf(text: string, option: string): Date {
  const at = midnightOf(text) ?? timeOf(text);
  if (at) return at;
  throw new UsageError(
    `${option} ${text}: write a date such as 2026-12-31, which counts from its beginning, or a time such as 2026-12-31T18:00:00Z`,
  );
}

/** Parses a time to come: a span from now, a clock time (the next one), a weekday with a clock time, or a date with a time. */
export function laterOf(text: string, option: string, now = new Date()): Date {
  const span = parseDuration(text);
  const at = span === undefined ? (nextClock(text, now) ?? timeOf(text)) : new Date(now.getTime() + span);
  if (at) return at;
  throw new UsageError(
    `${option} ${text}: write a span such as 48h or 3d, a time such as 22:00 or 'sun 22:00', or a date with a time such as 2026-12-31T18:00:00Z`,
  );
}

function midnightOf(text: string): Date | undefined {
  const [, year = "", month = "", day = ""] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  const at = new Date(`${text}T00:00:00`);
  const isThatDay = at.getMonth() + 1 === Number(month) && at.getDate() === Number(day);
  return year !== "" && isThatDay ? at : undefined;
}

/** Without a zone it is local time. */
function timeOf(text: string): Date | undefined {
  const isTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  const at = new Date(text);
  return isTime && !Number.isNaN(at.getTime()) ? at : undefined;
}

const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

// By days of the calendar: one on which the clock changes does not have 24 hours.
function nextClock(text: string, now: Date): Date | undefined {
  const [clock, day, hour, minute] =
    /^(?:([a-z]{3,9})\s+)?([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.toLowerCase()) ?? [];
  const named = day === undefined ? undefined : days.findIndex((name) => name.startsWith(day));
  if (clock === undefined || named === -1) return undefined;
  for (let ahead = 0; ahead <= 7; ahead++) {
    const date = now.getDate() + ahead;
    const at = new Date(now.getFullYear(), now.getMonth(), date, Number(hour), Number(minute));
    if (at > now && (named === undefined || at.getDay() === named)) return at;
  }
  return undefined;
}
