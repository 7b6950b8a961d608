// Which servers of a list are chosen: some by name, or all that match but some. Pure.

export type Selection = { isAll: boolean; names: ReadonlySet<string> };

export const nothing: Selection = { isAll: false, names: new Set() };
export const all: Selection = { isAll: true, names: new Set() };

/** With `isAll` the names are those that are left out. */
export function isSelected({ isAll, names }: Selection, name: string): boolean {
  return names.has(name) !== isAll;
}

export function withNames(selection: Selection, names: readonly string[], isOn: boolean): Selection {
  const next = new Set(selection.names);
  for (const name of names) {
    if (isOn === selection.isAll) next.delete(name);
    else next.add(name);
  }
  return { ...selection, names: next };
}

/** How many are chosen of those that match. */
export function countOf({ isAll, names }: Selection, total: number): number {
  return isAll ? Math.max(0, total - names.size) : names.size;
}

/** The names between two rows of a list, both included, in either order; rows that were not read are left out. */
export function namesBetween(
  rows: readonly ({ name: string; system: boolean } | undefined)[],
  from: number,
  to: number,
): string[] {
  const [first, last] = from <= to ? [from, to] : [to, from];
  return rows.slice(first, last + 1).flatMap((row) => (row && !row.system ? [row.name] : []));
}
