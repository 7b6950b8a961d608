// What `--until` of keep-awake may say (docs/reference/cli.md). Pure but for the zone of the machine.

const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A moment from a span (`90m`, `48h`, `3d`), a clock time (`22:00`: the next one), a weekday with a clock time (`sun 22:00`) or
 * a date with a time, which is in the zone of this machine unless it names one. Undefined for anything else.
 */
export function untilOf(text: string, now: Date): Date | undefined {
  const trimmed = text.trim().toLowerCase();
  const span = /^(\d{1,6})([mhd])$/.exec(trimmed);
  if (span) return new Date(now.getTime() + Number(span[1]) * (unitMs[span[2] ?? ""] ?? 0));
  const clock = /^(?:([a-z]{3,9})\s+)?([01]?\d|2[0-3]):([0-5]\d)$/.exec(trimmed);
  if (clock) return nextClock(now, { day: clock[1], hour: Number(clock[2]), minute: Number(clock[3]) });
  if (!/^\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}/.test(trimmed)) return undefined;
  const at = new Date(text.trim().replace(" ", "T"));
  return Number.isNaN(at.getTime()) ? undefined : at;
}

type Clock = { day: string | undefined; hour: number; minute: number };

// By days of the calendar: one on which the clock changes has not 24 hours.
function nextClock(now: Date, { day, hour, minute }: Clock): Date | undefined {
  const named = day === undefined ? undefined : days.findIndex((name) => name.startsWith(day));
  if (named === -1) return undefined;
  for (let ahead = 0; ahead <= 7; ahead++) {
    const at = new Date(now.getFullYear(), now.getMonth(), now.getDate() + ahead, hour, minute);
    if (at > now && (named === undefined || at.getDay() === named)) return at;
  }
  return undefined;
}
