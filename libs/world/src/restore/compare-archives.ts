// Which files differ between two archives: by the digests in their indexes, without unpacking either
// (docs/reference/backups.md#changes).

import type { ArchiveChanges } from "@svc/proto/file-changes";
import type { Archive } from "../archive/open.ts";
import { clampToSafeInteger } from "../path/extents.ts";
import { parsePath } from "../path/parse.ts";
import { firstOf, type Most } from "./first-of.ts";
import { type Header, headersOf } from "./partial-restore.ts";

type Options = {
  /** A folder or a file; empty for all. */
  path: string;
  most: Most;
};

type Change = ArchiveChanges["files"][number];

/** Folders and times alone make no difference. Without an index an archive is read whole. */
export async function compareArchives(
  archive: Archive,
  base: Archive,
  { path, most }: Options,
): Promise<ArchiveChanges> {
  const within = parsePath(path).join("/");
  const before = new Map<string, Header>();
  for await (const entry of filesOf(base, within)) before.set(entry.path, entry);
  const changes: Change[] = [];
  const counts = { added: 0, changed: 0, removed: 0, same: 0 };
  let isExact = true;
  const note = (change: Change["change"], { path: changed, size }: Header) => {
    counts[change] += 1;
    changes.push({ path: changed.toWellFormed(), change, size: clampToSafeInteger(size) });
  };
  for await (const entry of filesOf(archive, within)) {
    const old = before.get(entry.path);
    before.delete(entry.path);
    if (!old) note("added", entry);
    else {
      const { isSame, byDigest } = compareEntries(entry, old);
      isExact &&= byDigest;
      if (isSame) counts.same += 1;
      else note("changed", entry);
    }
  }
  for (const entry of before.values()) note("removed", entry);
  changes.sort((one, other) => (one.path < other.path ? -1 : 1));
  const files = firstOf(changes, most);
  return { ...counts, files, exact: isExact, truncated: files.length < changes.length };
}

/** Without both digests, files of one size and one time count as the same. */
function compareEntries(entry: Header, old: Header): { isSame: boolean; byDigest: boolean } {
  if (entry.size !== old.size) return { isSame: false, byDigest: true };
  if (entry.digest && old.digest) return { isSame: entry.digest.equals(old.digest), byDigest: true };
  return { isSame: entry.mtimeMs === old.mtimeMs && entry.stored === old.stored, byDigest: false };
}

async function* filesOf(archive: Archive, within: string): AsyncGenerator<Header> {
  for await (const entry of headersOf(archive)) {
    const isWithin = within === "" || entry.path === within || entry.path.startsWith(`${within}/`);
    if (entry.kind === "file" && isWithin) yield entry;
  }
}
