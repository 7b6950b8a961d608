// The bars of a status page, one for each day. Pure.

import type { Output } from "../api/operations.ts";

export type StatusPage = Output<"statusPages.readPage">;
type Day = StatusPage["days"][number];

export type Bar = { day: string; look: "none" | "fine" | "planned" | "some" | "down"; minutes: number };

const dayMs = 24 * 60 * 60_000;
const shown = 90;
/** From here on a day was bad, not disturbed. */
const badShare = 0.1;

function barOf(day: string, known: Day | undefined): Bar {
  if (!known || known.known_minutes === 0) return { day, look: "none", minutes: 0 };
  const { known_minutes: all, down_minutes: down, planned_minutes: planned } = known;
  if (down > 0) return { day, look: down / all >= badShare ? "down" : "some", minutes: down };
  return planned > 0 ? { day, look: "planned", minutes: planned } : { day, look: "fine", minutes: 0 };
}

/** The oldest first; the last one is the day of `asOf`, in UTC. */
export function barsOf({ days, as_of }: Pick<StatusPage, "days" | "as_of">): Bar[] {
  const known = new Map(days.map((one) => [one.day, one]));
  return Array.from({ length: shown }, (_, index) => {
    const at = Date.parse(as_of) - (shown - 1 - index) * dayMs;
    const day = new Date(at).toISOString().slice(0, 10);
    return barOf(day, known.get(day));
  });
}

/** Of the minutes that are known and in which no maintenance was announced; undefined without any. */
export function shareOf(days: readonly Day[]): number | undefined {
  const sum = (pick: (day: Day) => number) => days.reduce((total, day) => total + pick(day), 0);
  const counted = sum((day) => day.known_minutes - day.planned_minutes);
  return counted > 0 ? 1 - sum((day) => day.down_minutes) / counted : undefined;
}

/** Rounded down, so that only what was never away is 100 %. */
export function percentOf(share: number): string {
  return `${(Math.floor(share * 10_000 + 1e-6) / 100).toFixed(share >= 1 ? 0 : 2)} %`;
}
