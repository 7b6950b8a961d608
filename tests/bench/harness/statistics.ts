// Medians over rounds, and the order in which variants take turns.

/** Value below which `share` (0 to 1) of the sorted values lie; 0 of nothing. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return 0;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Field-wise median of samples of one shape. */
function medians<S extends Record<string, number>>(samples: readonly S[]): S {
  const [first] = samples;
  if (!first) throw new Error("no sample to take a median of");
  const names = Object.keys(first) as (keyof S)[];
  return Object.fromEntries(
    names.map((name) => [name, median(samples.map((sample) => sample[name] ?? 0))]),
  ) as S;
}

/** As `interleave`, and answers all samples of each variant: those of one index were taken in one round. */
export async function interleaveSamples<K extends string, S extends Record<string, number>>(
  rounds: number,
  variants: Record<K, () => Promise<S>>,
): Promise<Record<K, S[]>> {
  const names = Object.keys(variants) as K[];
  const samples = new Map<K, S[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      samples.get(name)?.push(await variants[name]());
    }
  }
  return Object.fromEntries(samples) as Record<K, S[]>;
}

/**
 * Runs every variant once a round, in turning order so that a slow drift of the machine hits all alike, and answers
 * the medians of each.
 */
export async function interleave<K extends string, S extends Record<string, number>>(
  rounds: number,
  variants: Record<K, () => Promise<S>>,
): Promise<Record<K, S>> {
  const samples = Object.entries(await interleaveSamples(rounds, variants)) as [K, S[]][];
  return Object.fromEntries(samples.map(([name, taken]) => [name, medians(taken)])) as Record<K, S>;
}

type Timed = { seconds: number };

/** Our rate beside the anchor's, and their ratio in each round. */
export function pairedRates(
  megabytes: number,
  { ours, anchor }: { ours: readonly Timed[]; anchor: readonly Timed[] },
): { ours: number; anchor: number; ratios: number[] } {
  const rate = (taken: readonly Timed[]) => megabytes / median(taken.map(({ seconds }) => seconds));
  const ratios = ours.map(({ seconds }, round) => (anchor[round]?.seconds ?? Number.NaN) / seconds);
  return { ours: rate(ours), anchor: rate(anchor), ratios };
}
