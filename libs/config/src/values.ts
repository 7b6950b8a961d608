// Durations and sizes in the configuration file (docs/reference/settings.md).

import { z } from "zod";

const unitMs: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  mo: 30 * 86_400_000,
};
const unitBytes: Record<string, number> = {
  "": 1,
  k: 1e3,
  Ki: 2 ** 10,
  M: 1e6,
  Mi: 2 ** 20,
  G: 1e9,
  Gi: 2 ** 30,
  T: 1e12,
  Ti: 2 ** 40,
};

/** Milliseconds of `500ms`, `30s`, `1h30m`, `15d` or `3mo` (months of 30 days); undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|mo|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|mo|s|m|h|d)/g)) {
    total += Number(amount) * (unitMs[unit ?? ""] ?? 0);
  }
  return total;
}

/** Bytes of a Kubernetes quantity such as `4Gi`, `500M` or `1024`; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)?$/.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return Number(amount) * (unitBytes[unit ?? ""] ?? 1);
}

/** Text that `parse` understands; `wanted` completes "it must be". */
export function parsed<T>(parse: (text: string) => T | undefined, wanted: string) {
  const error = ({ input }: { input: unknown }) =>
    input === undefined ? `is missing; it must be ${wanted}` : undefined;
  return z.string({ error }).transform((text, context): T => {
    const value = parse(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `must be ${wanted}, not ${JSON.stringify(text)}` });
    return z.NEVER;
  });
}

/** A duration setting in milliseconds, with its default as text. */
export function duration(fallback: string) {
  return parsed(parseDuration, "a duration such as 30s, 10m, 12h, 15d or 3mo").prefault(fallback);
}

/** A size setting in bytes, with its default as text. */
export function size(fallback: string) {
  return parsed(parseSize, "a size such as 512Mi or 4Gi").prefault(fallback);
}

/** A section of the file: unknown keys are rejected, a missing section has its defaults. */
export function section<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape).prefault({} as z.input<z.ZodObject<S, z.core.$strict>>);
}
