// The field in which somebody says until when a server is kept awake, in the time of the device. Pure.

const minuteMs = 60_000;

/** What the field shows for a moment, to the minute. */
export function untilFieldOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * minuteMs).toISOString().slice(0, 16);
}

type Until = { at: string } | { problem: "empty" | "past" | "late" };

/** The moment that the field names; one that the clock shows twice is the first of them. */
export function untilOf(field: string, now: number, longestMs: number): Until {
  // Without a zone it is the device's time.
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(field) ? new Date(field).getTime() : Number.NaN;
  if (Number.isNaN(at)) return { problem: "empty" };
  if (at <= now) return { problem: "past" };
  return at > now + longestMs ? { problem: "late" } : { at: new Date(at).toISOString() };
}
