// The four limits as a person types them: empty means no limit.

import type { Output } from "../../api/operations.ts";

export type Quota = Output<"quotas.read">;
export const limits = ["max_servers", "max_cpu_milli", "max_memory_mb", "max_storage_gb"] as const;
export type Limit = (typeof limits)[number];
type QuotaForm = Record<Limit, string>;

const highest = 2_147_483_647;
/** A processor is typed in cores and memory in GiB; the service counts thousandths and MiB. */
const unitsOf: Record<Limit, number> = {
  max_servers: 1,
  max_cpu_milli: 1_000,
  max_memory_mb: 1_024,
  max_storage_gb: 1,
};

/** The limits as text, exact to the last digit. */
export function formOf(quota: Pick<Quota, Limit>): QuotaForm {
  const text = (limit: Limit) => {
    const value = quota[limit];
    return value === null ? "" : String(value / unitsOf[limit]);
  };
  return Object.fromEntries(limits.map((limit) => [limit, text(limit)])) as QuotaForm;
}

/** What was typed as limits, or the fields that are none. */
export function parseForm(
  form: QuotaForm,
): { limits: Record<Limit, number | null> } | { faulty: ReadonlySet<Limit> } {
  const values = limits.map((limit) => [limit, parse(limit, form[limit])] as const);
  const faulty = new Set(values.flatMap(([limit, value]) => (value === undefined ? [limit] : [])));
  if (faulty.size > 0) return { faulty };
  return { limits: Object.fromEntries(values) as Record<Limit, number | null> };
}

function parse(limit: Limit, text: string): number | null | undefined {
  const typed = text.trim().replace(",", ".");
  if (typed === "") return null;
  if (!/^\d+(\.\d+)?$/.test(typed)) return undefined;
  const value = Number(typed) * unitsOf[limit];
  const whole = Math.round(value);
  const isWhole = Math.abs(value - whole) < 1e-6;
  return isWhole && whole <= highest ? whole : undefined;
}
