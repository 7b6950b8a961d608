// How long which steps are kept, and how they become the series of an answer (docs/reference/history.md#keeping). Pure.

import { histories } from "@svc/proto";

export const minuteMs = 60_000;

/** Steps from the finest on, each with the minutes after which it is merged into the next one; the last one is deleted. */
const kept = Object.values(histories.historyRanges).sort((a, b) => a.stepMinutes - b.stepMinutes);

/** The step that samples are written in. */
export const finestMinutes = kept[0]?.stepMinutes ?? 1;

/** Begin of the step that a time is in. */
export function stepStart(at: number, stepMinutes: number): number {
  const stepMs = stepMinutes * minuteMs;
  return Math.floor(at / stepMs) * stepMs;
}

export type SweepPlan = {
  /** In this order. Steps that begin before `before` become steps of `toMinutes`, each of them whole. */
  merges: { fromMinutes: number; toMinutes: number; before: Date }[];
  dropBefore: Date;
};

export function decideSweep(now: number): SweepPlan {
  const merges = kept.slice(0, -1).map(({ stepMinutes, minutes }, index) => {
    const toMinutes = kept[index + 1]?.stepMinutes ?? stepMinutes;
    return { fromMinutes: stepMinutes, toMinutes, before: endOf(now, minutes, toMinutes) };
  });
  const last = kept.at(-1) ?? { minutes: 0, stepMinutes: 1 };
  return { merges, dropBefore: endOf(now, last.minutes, last.stepMinutes) };
}

const endOf = (now: number, minutes: number, stepMinutes: number) =>
  new Date(stepStart(now - minutes * minuteMs, stepMinutes));

/** The steps of an answer; the last one has begun and is not over. */
export type Grid = { from: number; stepMs: number; steps: number };

export function gridOf(range: histories.HistoryRange, now: number): Grid {
  const { minutes, stepMinutes } = histories.historyRanges[range];
  const steps = minutes / stepMinutes;
  const stepMs = stepMinutes * minuteMs;
  return { from: stepStart(now, stepMinutes) - (steps - 1) * stepMs, stepMs, steps };
}

/** One value for each step, from the rows that begin in it; null where `pick` finds nothing. */
export function seriesOf<Row extends { at: Date }>(
  grid: Grid,
  rows: readonly Row[],
  pick: (rows: readonly Row[]) => number | undefined,
): (number | null)[] {
  const ofStep = Array.from({ length: grid.steps }, (): Row[] => []);
  for (const row of rows) ofStep[Math.floor((row.at.getTime() - grid.from) / grid.stepMs)]?.push(row);
  return ofStep.map((some) => pick(some) ?? null);
}

/** Sum by count over rows, rounded; undefined without a count, which is a gap and not 0. */
export function meanOf<Row>(about: {
  sum: (row: Row) => number;
  count: (row: Row) => number;
  digits?: number;
}) {
  const scale = 10 ** (about.digits ?? 0);
  return (rows: readonly Row[]): number | undefined => {
    const count = rows.reduce((total, row) => total + about.count(row), 0);
    const sum = rows.reduce((total, row) => total + about.sum(row), 0);
    return count === 0 ? undefined : Math.round((sum / count) * scale) / scale;
  };
}
