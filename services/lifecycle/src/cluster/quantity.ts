// Kubernetes quantities as numbers (bytes, cores).

import { parseQuantity as parseNanos } from "@svc/kube/quantity";

/** The number that a quantity such as `8Gi`, `500m` or `1e3` stands for; undefined when it is invalid. */
export function parseQuantity(text: string): number | undefined {
  const nanos = parseNanos(text.trim());
  return nanos === undefined ? undefined : Number(nanos) / 1e9;
}

/** As `parseQuantity`, but only above zero. */
export function positiveQuantity(text: string): number | undefined {
  const value = parseQuantity(text);
  return value !== undefined && value > 0 ? value : undefined;
}

const mebibyte = 2 ** 20;

/**
 * JVM heap for a memory limit: the limit minus a reserve of 25 % (at least `reserveMinBytes`, at most half) (docs/reference/wake.md#checks). Written as `<n>M`, in MiB as the JVM reads it.
 */
export function heapOf(memoryLimit: string, reserveMinBytes: number): string | undefined {
  const limit = positiveQuantity(memoryLimit);
  if (limit === undefined) return undefined;
  const reserve = Math.min(Math.max(limit * 0.25, reserveMinBytes), limit * 0.5);
  return `${Math.max(1, Math.floor((limit - reserve) / mebibyte))}M`;
}
