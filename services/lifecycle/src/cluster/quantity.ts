// Kubernetes quantities as numbers (bytes, cores).

const factors: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number that a quantity such as `8Gi`, `500m` or `1e3` stands for; undefined when it is none. */
export function parseQuantity(text: string): number | undefined {
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(
    text.trim(),
  );
  if (!match) return undefined;
  const [, number = "", exponent = "", suffix = ""] = match;
  const value = Number(`${number}${exponent}`) * (factors[suffix] ?? 1);
  return Number.isFinite(value) ? value : undefined;
}

/** As `parseQuantity`, but only above zero. */
export function positiveQuantity(text: string): number | undefined {
  const value = parseQuantity(text);
  return value !== undefined && value > 0 ? value : undefined;
}

const mebibyte = 2 ** 20;

/**
 * JVM heap for a memory limit: the limit less a reserve of 25 % (at least `reserveMinBytes`), which never takes more
 * than half (behaviour.md f). Written as `<n>M`, in MiB as the JVM reads it.
 */
export function heapOf(memoryLimit: string, reserveMinBytes: number): string | undefined {
  const limit = positiveQuantity(memoryLimit);
  if (limit === undefined) return undefined;
  const reserve = Math.min(Math.max(limit * 0.25, reserveMinBytes), limit * 0.5);
  return `${Math.max(1, Math.floor((limit - reserve) / mebibyte))}M`;
}
