// Views, and operations that gateways answer from them (docs/reference/mesh.md#views).

import type { z } from "zod";
import type { Owner, ServiceName } from "./caller.ts";
import type { Principal } from "./envelope.ts";
import type { FaultName } from "./fault.ts";

/** A projection kept by its owner in a key-value bucket and mirrored in the memory of its readers. */
export type View<Value = unknown> = {
  type: "view";
  /** Bucket name. */
  name: string;
  owner: Owner;
  value: z.ZodType<Value>;
  readers: readonly ServiceName[];
  /**
   * Services of which the entries copy something that the owner looks up only now and then: a reader that catches up with
   * the owner (docs/reference/mesh.md#catch-up) may still lack their changes.
   */
  copiesFrom: readonly Owner[];
  /** How often its owner marks it as current while somebody asks for what depends on its age; else less often. */
  markEveryMs: number;
  /** Milliseconds since the last mark after which nothing that depends on who asks is answered from it. */
  staleAfterMs: number;
  summary: string;
};

const defaults = { copiesFrom: [], markEveryMs: 5_000, staleAfterMs: 15_000 };

export function view<V extends z.ZodType>(definition: {
  name: string;
  owner: Owner;
  value: V;
  readers: readonly ServiceName[];
  copiesFrom?: readonly Owner[];
  markEveryMs?: number;
  staleAfterMs?: number;
  summary: string;
}): View<z.output<V>> {
  const value = definition.value as unknown as z.ZodType<z.output<V>>;
  return { ...defaults, ...definition, value, type: "view" };
}

/**
 * An operation that gateways answer from their mirror of a view, and its owner while they have none. Without `rows`
 * every caller gets the stored values. With `rows` the answer depends on who asks, and the owner is asked as soon as a
 * view is older than its `staleAfterMs`.
 */
export type ViewBinding = {
  of: View;
  /** A second view with the same keys, for values that belong together and change apart. */
  beside?: View;
  /** An entry without its counterpart in `beside` is incomplete: then the owner answers. */
  needsBeside?: boolean;
  rows?: ViewRows;
} & ({ as: "list" } | ItemBinding);

/** The entry that a parameter names, or always the same one. */
export type ItemBinding = {
  as: "item";
  /** The gateway refuses by itself what is not in the view; else the owner is asked. Only without `rows`. */
  missing?: FaultName;
} & ({ param: string } | { key: string });

/** A picture of an entry of a view. Pure: its bytes are kept for each version of an entry and variant. */
type Image<Entry> = {
  of: View<Entry>;
  param: string;
  missing: FaultName;
  contentType: string;
  /** Its Content-Security-Policy. */
  policy: string;
  /** What the picture depends on beside the entry; one of few. */
  variantOf: (entry: Entry, about: { input: Readonly<Record<string, unknown>>; now: number }) => string;
  draw: (entry: Entry, variant: string) => string;
};
// biome-ignore lint/suspicious/noExplicitAny: a binding holds the picture of any view
export type ImageBinding = Image<any>;

/** What the callers of an operation see of an entry. Pure: bytes are kept for each version of an entry and reader. */
type Rows<Of, Beside, Facts, Reader extends string, Row> = {
  /** What decides who sees what. */
  factsOf: (entry: Of, beside: Beside | undefined) => Facts;
  /** Which kind of reader the caller is; undefined when the entry is not for the caller: a list leaves it out. */
  readerOf: (facts: Facts, principal: Principal) => Reader | undefined;
  /**
   * The accounts that an entry can be for, or everybody: a list then looks at no other entries, whatever there is. Nobody
   * else may have a reader. Absent: every entry is looked at for everybody.
   */
  shownTo?: (facts: Facts) => readonly string[] | "everybody";
  /** The row that such a reader sees. */
  rowFor: (reader: Reader, entry: Of, beside: Beside | undefined) => Row;
  /** Shape of a row, checked once when its bytes are made. */
  row: z.ZodType<Row>;
  /**
   * Where a row stands in a list that callers may take by pages (docs/reference/http.md#pages). Only for a list that every caller
   * sees whole: who asks must not change what this gives.
   */
  listedAs?: (row: Row) => Listed;
};

/** How a row is found and sorted. Names of filters and sorts are values of the contract's query. */
export type Listed = {
  /** Ties of every sort are broken by it, numbers in it by their value. */
  name: string;
  /** The words of a search are looked for in it, in any case. */
  text: string;
  /** By query parameter, the values under which the row is found. */
  filters: Readonly<Record<string, readonly string[]>>;
  /** By value of `sort`, the key of the row; the list is sorted by name otherwise. */
  sorts: Readonly<Record<string, number | string>>;
};
// biome-ignore lint/suspicious/noExplicitAny: a binding holds the rows of any view
export type ViewRows = Rows<any, any, any, any, any>;

export function viewRows<Of, Beside, Facts, Reader extends string, Row>(
  rows: Rows<Of, Beside, Facts, Reader, Row>,
): typeof rows {
  return rows;
}

/** The row of an entry as a caller sees it; undefined when it is not for the caller. For owners that answer by themselves. */
export function rowFor<Of, Beside, Facts, Reader extends string, Row>(
  rows: Rows<Of, Beside, Facts, Reader, Row>,
  principal: Principal,
  { entry, beside }: { entry: Of; beside: Beside | undefined },
): Row | undefined {
  const reader = rows.readerOf(rows.factsOf(entry, beside), principal);
  return reader === undefined ? undefined : rows.rowFor(reader, entry, beside);
}

/**
 * An event stream that gateways make by themselves: which entry of a view something changed at, for those who may know
 * it (docs/reference/events.md#stream). Changes of the entries come from the mirrors, all others as events whose key is
 * the key of an entry.
 */
export type ChangeBinding = {
  of: View;
  beside: View;
  rights: ChangeRights;
  events: readonly { event: { subject: string }; typeOf: (data: unknown) => string }[];
};

type Rights<Of, Beside, Facts, Type extends string> = {
  /** What decides who hears of an entry; either value may be missing. */
  factsOf: (entry: Of | undefined, beside: Beside | undefined) => Facts;
  /** Whether the caller may know that something of this type changed. Pure. */
  hears: (facts: Facts, principal: Principal, type: Type) => boolean;
  /** Type of a change of the entry itself. */
  entryType: Type;
};
// biome-ignore lint/suspicious/noExplicitAny: a binding holds the rights of any view
type ChangeRights = Rights<any, any, any, any>;

export function changeRights<Of, Beside, Facts, Type extends string>(
  rights: Rights<Of, Beside, Facts, Type>,
): typeof rights {
  return rights;
}
