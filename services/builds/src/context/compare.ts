// What differs between a context and an earlier one. Pure.

import type { submissions } from "@svc/proto";
import type { IndexEntry } from "./entry-index.ts";

type Change = submissions.ContextEntry["change"];

export type Comparison = {
  /** By path. A folder is `changed` when something below it differs. */
  entries: submissions.ContextEntry[];
  /** Of files and links. */
  counts: Record<Change, number>;
};

/** Without an earlier context everything is `added`. */
export function compareContexts(now: readonly IndexEntry[], earlier: readonly IndexEntry[]): Comparison {
  const before = new Map(earlier.map((entry) => [entry.path, entry]));
  const counts = { same: 0, added: 0, changed: 0, removed: 0 };
  const folders = createFolders();
  const entries: submissions.ContextEntry[] = [];
  const paths = new Set<string>();
  const take = (entry: IndexEntry, change: Change) => {
    counts[change] += 1;
    folders.note(entry.path, change);
    entries.push({ ...entry, change });
  };
  for (const entry of now) {
    paths.add(entry.path);
    if (entry.kind === "folder") folders.add(entry.path, "now");
    else take(entry, changeOf(entry, before.get(entry.path)));
  }
  for (const entry of earlier) {
    if (entry.kind === "folder") folders.add(entry.path, "earlier");
    else if (!paths.has(entry.path)) take(entry, "removed");
    else folders.add(folderOf(entry.path), "earlier");
  }
  for (const path of paths) before.delete(path);
  entries.push(...folders.entries(paths));
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { entries, counts };
}

function changeOf(entry: IndexEntry, before: IndexEntry | undefined): Change {
  if (!before || before.kind === "folder") return "added";
  const { kind, size, sha256, target } = before;
  const isSame =
    entry.kind === kind && entry.size === size && entry.sha256 === sha256 && entry.target === target;
  return isSame ? "same" : "changed";
}

type Side = "now" | "earlier";
type FolderFacts = { now: boolean; earlier: boolean; differs: boolean };

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** All folders, also those that only paths name. A walk up stops where everything is known, so depth costs nothing twice. */
function createFolders() {
  const known = new Map<string, FolderFacts>();
  const mark = (path: string, facts: Partial<FolderFacts>) => {
    for (let at = path; at !== ""; at = folderOf(at)) {
      const had = known.get(at) ?? { now: false, earlier: false, differs: false };
      const next = {
        now: had.now || facts.now === true,
        earlier: had.earlier || facts.earlier === true,
        differs: had.differs || facts.differs === true,
      };
      const isKnown = known.has(at) && next.now === had.now && next.earlier === had.earlier;
      if (isKnown && next.differs === had.differs) return;
      known.set(at, next);
    }
  };
  return {
    add: (path: string, side: Side) => mark(path, { [side]: true }),
    note: (path: string, change: Change) => {
      const folder = folderOf(path);
      mark(folder, {
        now: change !== "removed",
        earlier: change !== "added",
        differs: change !== "same",
      });
    },
    /** `taken`: paths of the context, of which some are files now where an earlier one had a folder. */
    entries: function* (taken: ReadonlySet<string>): Generator<submissions.ContextEntry> {
      for (const [path, { now, earlier, differs }] of known) {
        if (!now && taken.has(path)) continue;
        const change = !now ? "removed" : !earlier ? "added" : differs ? "changed" : "same";
        yield { path, kind: "folder", size: 0, change };
      }
    },
  };
}

type Wanted = {
  /** Entries of this folder alone, empty for the root; without it all files and links. */
  folder?: string | undefined;
  change?: Change | undefined;
  /** Part of the path in any case. */
  query?: string | undefined;
};

export function selectEntries(
  entries: readonly submissions.ContextEntry[],
  { folder, change, query }: Wanted,
): submissions.ContextEntry[] {
  const part = query?.toLowerCase();
  const place = folder?.replace(/\/$/, "");
  return entries.filter(
    (entry) =>
      (place === undefined ? entry.kind !== "folder" : folderOf(entry.path) === place) &&
      (change === undefined || entry.change === change) &&
      (part === undefined || entry.path.toLowerCase().includes(part)),
  );
}
