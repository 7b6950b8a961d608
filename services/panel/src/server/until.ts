// The field in which somebody says until when a server is kept awake, in the time of the device. Pure.

import { momentOfField } from "../words/local-time.ts";

type Until = { at: string } | { problem: "empty" | "past" | "late" };

/** The moment that the field names; one that the clock shows twice is the first of them. */
export function untilOf(
  field: string,
  { now, longestMs, zone }: { now: number; longestMs: number; zone: string },
): Until {
  const at = momentOfField(field, zone)?.at;
  if (at === undefined) return { problem: "empty" };
  if (at <= now) return { problem: "past" };
  return at > now + longestMs ? { problem: "late" } : { at: new Date(at).toISOString() };
}
