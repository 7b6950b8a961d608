// How fast bytes go out, over the last seconds.

export type Sample = { at: number; bytes: number; id: string };

const spanMs = 8_000;

/** Samples of one file; those of another one or of long ago are dropped. */
export function addSample(samples: readonly Sample[], sample: Sample): Sample[] {
  return [...samples.filter(({ at, id }) => id === sample.id && at >= sample.at - spanMs), sample];
}

/** Bytes per second; undefined until there is enough to say so. */
export function speedOf(samples: readonly Sample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.at - first.at < 500) return undefined;
  return Math.max(0, ((last.bytes - first.bytes) * 1_000) / (last.at - first.at));
}

/** Whole seconds until so many bytes have gone out; undefined while nothing does. */
export function secondsLeft(bytes: number, speed: number): number | undefined {
  return speed > 0 ? Math.ceil(bytes / speed) : undefined;
}
