// Geometry and rules of charts. Pure.

/** A stretch of time on a chart. */
export type Span = { from: number; to: number };
export type Values = readonly (number | null)[];

/** A value between two gaps: no line leads to it. */
export function isAlone(values: Values, index: number): boolean {
  return (
    values[index] !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
  );
}

/** Path of a line that breaks at gaps; a value that is alone is not part of it. */
export function linePath(values: Values, xOf: (index: number) => number, yOf: (value: number) => number) {
  const path: string[] = [];
  values.forEach((value, index) => {
    if (value === null || isAlone(values, index)) return;
    const at = `${xOf(index).toFixed(1)} ${yOf(value).toFixed(1)}`;
    const isFirst = index === 0 || values[index - 1] === null;
    path.push(`${isFirst ? "M" : "L"}${at}`);
  });
  return path.join("");
}

const decimals = [1, 2, 2.5, 5, 10];
const binaries = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/** Round numbers from 0 to at least the largest value, at most five; sizes are round in their own units. */
export function valueTicks(largest: number, { isBytes = false, isWhole = false } = {}): number[] {
  if (largest <= 0) return [0, 1];
  const intervals = 4;
  const least = (isWhole ? Math.max(largest, intervals) : largest) / intervals;
  const base = isBytes
    ? 1_024 ** Math.floor(Math.log(least) / Math.log(1_024))
    : 10 ** Math.floor(Math.log10(least));
  const factors = isBytes ? binaries : decimals;
  const rounded = factors.map((factor) => factor * base).find((one) => one >= least * (1 - 1e-9)) ?? least;
  const step = isWhole ? Math.max(1, Math.ceil(rounded)) : rounded;
  const count = Math.max(1, Math.ceil(largest / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

const hourMs = 3_600_000;

/** Hours or midnights of the reader's own clock, as many as fit; a clock change moves none of them. */
export function timeTicks({ from, to }: Span, most: number): { at: number; isDay: boolean }[] {
  const isShort = to - from <= 26 * hourMs;
  const hours = [1, 2, 3, 4, 6, 12].find((one) => (to - from) / (one * hourMs) <= most) ?? 24;
  const days = [1, 2, 5, 7, 10].find((one) => (to - from) / (one * 24 * hourMs) <= most) ?? 15;
  const begin = new Date(from);
  begin.setHours(0, 0, 0, 0);
  const ticks: { at: number; isDay: boolean }[] = [];
  for (let step = 0; step < 1_000; step += 1) {
    const time = new Date(begin);
    if (isShort) time.setHours(step * hours);
    else time.setDate(begin.getDate() + step * days);
    if (time.getTime() > to) return ticks;
    if (time.getTime() >= from) ticks.push({ at: time.getTime(), isDay: time.getHours() === 0 });
  }
  return ticks;
}

export type Band<Phase> = Span & { phase: Phase };

/** Which phase a server was in from when to when, inside of a span; before the first change nothing is known. */
export function bandsOf<Phase>(changes: readonly { at: string; phase: Phase }[], span: Span): Band<Phase>[] {
  return changes.flatMap(({ at, phase }, index) => {
    const next = changes[index + 1];
    const from = Math.max(span.from, Date.parse(at));
    const to = Math.min(span.to, next ? Date.parse(next.at) : span.to);
    return to > from ? [{ from, to, phase }] : [];
  });
}

/** Measurements at times of their own as values of steps, the last one of each. */
export function valuesOf(
  measured: readonly { at: string; bytes: number }[],
  { from, to }: Span,
  steps: number,
): (number | null)[] {
  const values: (number | null)[] = Array.from({ length: steps }, () => null);
  for (const { at, bytes } of measured) {
    const fraction = (Date.parse(at) - from) / (to - from);
    if (fraction >= 0 && fraction < 1) values[stepAt(fraction, steps)] = bytes;
  }
  return values;
}

type Summary = { last: number | undefined; most: number };

/** The present value and the largest one; undefined without any. */
export function summaryOf(values: Values): Summary | undefined {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return undefined;
  return { last: values.findLast((value) => value !== null) ?? undefined, most: Math.max(...known) };
}

/** Half of the values are at most this. */
export function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1];
}

const linePx = 16;

/** Labels from the highest to the lowest, none closer to the next than a line of text and none below `bottom`. */
export function spreadOut<Label extends { y: number }>(labels: readonly Label[], bottom: number): Label[] {
  const spread: Label[] = [];
  let next = Number.NEGATIVE_INFINITY;
  for (const label of labels.toSorted((a, b) => a.y - b.y)) {
    const y = Math.max(label.y, next);
    spread.push({ ...label, y });
    next = y + linePx;
  }
  const over = Math.max(0, (spread.at(-1)?.y ?? 0) - bottom);
  return over === 0 ? spread : spread.map((label) => ({ ...label, y: label.y - over }));
}

/** The step that a place on a chart belongs to. */
export function stepAt(fraction: number, steps: number): number {
  return Math.min(steps - 1, Math.max(0, Math.floor(fraction * steps)));
}
