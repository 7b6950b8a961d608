/** A page that the address names, from 1; anything else there counts as the first. */
export function pageOf(page: unknown): number {
  const number = typeof page === "string" || typeof page === "number" ? Number(page) : Number.NaN;
  return Number.isInteger(number) && number >= 1 && number <= 1_000_000 ? number : 1;
}
