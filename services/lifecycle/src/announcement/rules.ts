// When an announcement is shown, and when the players of a server are told (docs/reference/announcements.md#game). Pure.

import { announcements as contracts } from "@svc/proto";

const minuteMs = 60_000;

/** Of a row. */
type Times = { starts_at: Date; ends_at: Date; ended_at: Date | null; maintenance: boolean };

export function stateOf({ starts_at, ends_at, ended_at }: Times, now: number): contracts.State {
  if (ended_at !== null || now >= ends_at.getTime()) return "over";
  return now < starts_at.getTime() ? "planned" : "current";
}

/** Maintenance is shown for so long before it begins. */
const shownAheadMs = 24 * 60 * minuteMs;

/** Whether people are shown it: a message while it is current, maintenance from a day before. */
export function isShown(times: Times, now: number): boolean {
  const state = stateOf(times, now);
  if (state !== "planned") return state === "current";
  return times.maintenance && now >= times.starts_at.getTime() - shownAheadMs;
}

/** Minutes before maintenance begins at which players are told. */
const countdown = [30, 10, 5, 1] as const;

/** `minutes`: before the start, 0 is the start; `leftMinutes`: until it begins, or until maintenance ends. */
export type Step = { minutes: number; dueAt: Date; leftMinutes: number };

/**
 * What the players of running servers are to be told now. Of the steps that are due only the last one counts, so that a
 * replica that comes late does not tell what is no longer true.
 */
export function stepAt(times: Times, now: number, lateMs: number): Step | undefined {
  const state = stateOf(times, now);
  const start = times.starts_at.getTime();
  const minutesUntil = (end: number) => Math.max(1, Math.ceil((end - now) / minuteMs));
  if (state === "current" && now < start + lateMs)
    return { minutes: 0, dueAt: times.starts_at, leftMinutes: minutesUntil(times.ends_at.getTime()) };
  if (state !== "planned" || !times.maintenance) return undefined;
  const minutes = countdown.findLast((before) => now >= start - before * minuteMs);
  if (minutes === undefined) return undefined;
  return { minutes, dueAt: new Date(start - minutes * minuteMs), leftMinutes: minutesUntil(start) };
}

type Wanted = { start: number; end: number; maintenance: boolean };

/** A begin that a person chose a moment ago is not yet "in the past". */
const slackMs = 5 * minuteMs;

/** What is wrong with a range, in words; `begun`: when it began, of one that is current. */
export function problemOf(
  { start, end, maintenance }: Wanted,
  about: { now: number; begun?: number | undefined },
): string | undefined {
  const { now, begun } = about;
  if (begun !== undefined && start !== begun)
    return "It has begun, so its start stays as it is; leave it out.";
  if (begun === undefined && start < now - slackMs)
    return "The start is in the past; leave it out to begin now.";
  if (end <= start) return "The end must be after the start.";
  if (end <= now) return "The end must be in the future; POST …/end ends it now.";
  if (start > now + contracts.furthestAheadMs) return "The start must be within 366 days.";
  const longest = maintenance ? contracts.longestWindowMs : contracts.longestRangeMs;
  const days = longest / (24 * 60 * minuteMs);
  if (end - start > longest)
    return maintenance
      ? `A maintenance window lasts at most ${days} days.`
      : `It lasts at most ${days} days.`;
  return undefined;
}
