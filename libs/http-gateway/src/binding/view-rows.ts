// The rows of an operation as bytes, made from mirrored entries once for each version of an entry and kind of reader
// (docs/reference/http.md#views).

import type { ViewMirror } from "@svc/mesh";
import type { Listed, Owner, Principal, ViewBinding, ViewRows } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { inLowerCase } from "./list-page.ts";
import { createReaderIndex } from "./reader-index.ts";

/** A row's bytes; `hidden` from this caller; or `incomplete`: only the owner can answer. */
type Row = Uint8Array | "hidden" | "incomplete";

export type RowSource = {
  /** False while the owner has to answer. */
  isUsable: () => boolean;
  /** Waits until the copies have what their owner knows now; false when they don't within `withinMs`. */
  catchUp: (withinMs: number) => Promise<boolean>;
  /** Owners whose changes copies that have caught up may still lack. */
  copiesFrom: readonly Owner[];
  /** Changes whenever a row may have changed. */
  version: () => number;
  keys: () => readonly string[];
  /** Keys of what may be for the caller; of all entries where nothing tells sooner. */
  keysFor: (principal: Principal) => readonly string[];
  rowOf: (key: string, principal: Principal) => Row;
  /** Where an entry stands in the list, in lower case. */
  listedOf: (key: string, principal: Principal) => Listed | "hidden" | "incomplete";
  /** Seconds since the owner said that the entries are current. */
  ageSeconds: () => number;
  /** Whether different callers may get different rows. */
  isPersonal: boolean;
};

type Mirrors = { of: ViewMirror; beside?: ViewMirror | undefined };

/** Each is asked, so that the owner of every one hears that it is in use. */
export function areFresh(mirrors: readonly ViewMirror[]): boolean {
  return mirrors.filter((mirror) => mirror.isFresh()).length === mirrors.length;
}

export function createRowSource(mirrors: Mirrors, binding: ViewBinding, log: Logger): RowSource {
  const all = mirrors.beside ? [mirrors.of, mirrors.beside] : [mirrors.of];
  const { rows } = binding;
  const isReady = () => all.every((mirror) => mirror.ready);
  return {
    // What everybody may see is better old than not at all; what depends on rights is not.
    isUsable: rows ? () => isReady() && areFresh(all) : isReady,
    catchUp: async (withinMs) =>
      (await Promise.all(all.map((mirror) => mirror.catchUp(withinMs)))).every(Boolean),
    copiesFrom: [binding.of, ...(binding.beside ? [binding.beside] : [])].flatMap((view) => view.copiesFrom),
    version: () => all.reduce((sum, mirror) => sum + mirror.version, 0),
    keys: mirrors.of.keys,
    ...(rows
      ? createPersonalRows(mirrors, { rows, needsBeside: binding.needsBeside === true, log })
      : {
          keysFor: mirrors.of.keys,
          rowOf: (key) => mirrors.of.get(key) ?? "hidden",
          listedOf: () => "incomplete",
        }),
    ageSeconds: () => Math.max(0, Math.floor(Math.max(...all.map((mirror) => mirror.ageMs())) / 1_000)),
    isPersonal: rows !== undefined,
  };
}

type Kept = {
  of: Uint8Array;
  beside: Uint8Array | undefined;
  facts: unknown;
  /** By kind of reader. */
  bytes: Map<string, Uint8Array | "incomplete">;
  listed: Listed | undefined;
};
type Versions = Pick<Kept, "of" | "beside">;

function createPersonalRows(
  mirrors: Mirrors,
  { rows, needsBeside, log }: { rows: ViewRows; needsBeside: boolean; log: Logger },
): Pick<RowSource, "keysFor" | "rowOf" | "listedOf"> {
  const kept = new Map<string, Kept>();
  const keep = (key: string, { of, beside }: Versions, principal: Principal): Kept => {
    forgetGone(kept, mirrors.of);
    const [entry, other] = [decode(of), beside && decode(beside)];
    const facts = rows.factsOf(entry, other);
    const reader = rows.listedAs && rows.readerOf(facts, principal);
    const listed =
      rows.listedAs && reader !== undefined
        ? inLowerCase(rows.listedAs(rows.rowFor(reader, entry, other)))
        : undefined;
    const made: Kept = { of, beside, facts, bytes: new Map(), listed };
    kept.set(key, made);
    return made;
  };
  const currentOf = (key: string, principal: Principal): Kept | "hidden" | "incomplete" => {
    const of = mirrors.of.get(key);
    if (!of) return "hidden";
    const beside = mirrors.beside?.get(key);
    if (needsBeside && !beside) return "incomplete";
    const known = kept.get(key);
    // A mirror replaces the bytes of an entry that has changed, so that the same bytes are the same version.
    return known?.of === of && known.beside === beside ? known : keep(key, { of, beside }, principal);
  };
  const makeRow = ({ of, beside }: Kept, reader: string) =>
    rows.rowFor(reader, decode(of), beside && decode(beside));

  return {
    keysFor: keysForReaders(mirrors, { ...rows, needsBeside }),
    rowOf: (key, principal) => {
      const current = currentOf(key, principal);
      if (typeof current === "string") return current;
      const reader = rows.readerOf(current.facts, principal);
      if (reader === undefined) return "hidden";
      const before = current.bytes.get(reader);
      if (before) return before;
      const row = rows.row.safeParse(makeRow(current, reader));
      // A newer version of the owner may have written it; then the owner answers.
      if (!row.success)
        log.warn({ key, error: row.error.message }, "an entry of a view has an unknown shape");
      const bytes = row.success ? Buffer.from(JSON.stringify(row.data)) : "incomplete";
      current.bytes.set(reader, bytes);
      return bytes;
    },
    listedOf: (key, principal) => {
      const current = currentOf(key, principal);
      return typeof current === "string" ? current : (current.listed ?? "hidden");
    },
  };
}

type Shown = Pick<ViewRows, "shownTo" | "factsOf"> & { needsBeside: boolean };

function keysForReaders(mirrors: Mirrors, { shownTo, factsOf, needsBeside }: Shown): RowSource["keysFor"] {
  const { of, beside } = mirrors;
  if (!shownTo) return of.keys;
  const index = createReaderIndex({
    isReady: () => of.ready && beside?.ready !== false,
    keys: of.keys,
    audienceOf: (key) => {
      const [entry, other] = [of.get(key), beside?.get(key)];
      if (!entry) return undefined;
      if (needsBeside && !other) return "everybody";
      return shownTo(factsOf(decode(entry), other && decode(other)));
    },
  });
  of.onChange(index.changed);
  beside?.onChange(index.changed);
  return (principal) => (principal.kind === "account" && index.keysFor(principal.user_id)) || of.keys();
}

// At most twice as many entries as there are keys.
function forgetGone(kept: Map<string, Kept>, mirror: ViewMirror): void {
  if (kept.size < 64 || kept.size < 2 * mirror.size) return;
  for (const key of kept.keys()) if (!mirror.get(key)) kept.delete(key);
}

function decode(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}
