// What an address says about a list; anything else in it counts as nothing.

export type Query = Readonly<Record<string, unknown>>;

/** A text of the address; numbers come back from the router as such. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The fields that say something, for the address. */
export function given<Fields extends Readonly<Record<string, string>>>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== "")) as Partial<Fields>;
}
