import { parseDuration } from "@svc/config";
import { CommandError } from "./output.ts";

/** Parses a span back from now, a date (midnight in local time) or a time. */
export function momentOf(text: string, option: string, now = new Date()): Date {
  const span = parseDuration(text);
  if (span !== undefined) return new Date(now.getTime() - span);
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  const at = new Date(isDate ? `${text}T00:00:00` : text);
  if ((isDate || isTime) && !Number.isNaN(at.getTime())) return at;
  throw new CommandError(
    `${option} ${text}: write a span such as 90s, 1h or 2d, a date such as 2026-11-20 or a time such as 2026-11-20T14:00:00Z`,
  );
}
