// Whether a series of readings grows (docs/soak.md). Pure.

export type Reading = { atMs: number; value: number };

export type Trend = {
  first: number;
  last: number;
  /** Median slope between any two readings after the warm-up. */
  perHour: number;
  isGrowing: boolean;
};

export type Tolerance = {
  /** Growth within the run that is none. */
  least: number;
  /** The same as a share of the first value. */
  share: number;
};

/** Caches fill and code is compiled in this share of a run. */
const warmUpShare = 1 / 3;
const hourMs = 3_600_000;
/** Fewer readings after the warm-up tell nothing. */
const fewest = 8;

/** A series grows when its end is above its beginning by more than the tolerance and it rises throughout. */
export function trendOf(readings: readonly Reading[], tolerance: Tolerance): Trend {
  const steady = readings.slice(Math.floor(readings.length * warmUpShare));
  const quarter = Math.max(1, Math.floor(steady.length / 4));
  const middleOf = (some: readonly Reading[]) => median(some.map(({ value }) => value));
  const first = middleOf(steady.slice(0, quarter));
  const last = middleOf(steady.slice(-quarter));
  const halves = [steady.slice(0, quarter * 2), steady.slice(-quarter * 2)] as const;
  const isRising = steady.length >= fewest && halves.every((half) => slopeOf(half) > 0);
  const allowed = Math.max(tolerance.least, tolerance.share * first);
  return { first, last, perHour: slopeOf(steady) * hourMs, isGrowing: last - first > allowed && isRising };
}

/** Median of the slopes between any two readings (Theil–Sen): single peaks do not move it. In units per millisecond. */
function slopeOf(readings: readonly Reading[]): number {
  const slopes = readings.flatMap((one, at) =>
    readings.slice(at + 1).flatMap((other) => {
      const ms = other.atMs - one.atMs;
      return ms > 0 ? [(other.value - one.value) / ms] : [];
    }),
  );
  return median(slopes);
}

function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - (sorted.length % 2 === 0 ? 1 : 0)], sorted[middle]];
  return (low + high) / 2;
}
