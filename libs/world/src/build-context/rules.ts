// Which entries of a build context are accepted (docs/reference/submissions.md#archive). What passes can be unpacked in order
// into an empty folder without a file outside of it being touched: no entry lies below a link, and a link leads down or first
// up and then down, never down and up again, so that no chain of links leaves the root.

import { unsafe } from "../archive/tar-entry.ts";
import { corrupt, type RawHeader } from "../archive/tar-header.ts";
import { splitPath } from "../path/ancestry.ts";
import { longPathBytes } from "../path/limits.ts";
import { whyNoEntry } from "../path/name.ts";

/** One entry of a build context; `path` is relative with forward slashes. */
export type ContextEntry = {
  path: string;
  kind: "file" | "folder" | "symlink" | "hardlink";
  /** Permission bits only. */
  mode: number;
  mtimeMs: number;
  /** Bytes of a file, else 0. */
  size: number;
  /** Of a symlink as it is stored, of a hard link the path of an earlier file. */
  target?: string;
};

export type ContextLimits = {
  /** Entries with the folders that only paths name. */
  entries: number;
  /** Bytes of the unpacked archive. */
  plainBytes: number;
  /** Bytes of all paths together. */
  pathBytes: number;
  /** Unpacked bytes for each packed one, beyond the first `freeBytes` unpacked ones. */
  ratio: number;
  freeBytes: number;
};

export const contextLimits: ContextLimits = {
  entries: 200_000,
  plainBytes: 4 * 2 ** 30,
  pathBytes: 64 * 2 ** 20,
  ratio: 200,
  freeBytes: 256 * 2 ** 20,
};

const controls = /\p{Cc}/u;

type ContextRules = {
  /** The entry of a header; undefined for the root and for what is skipped. Throws `archive_unsafe`, `backup_corrupt`. */
  accept: (header: RawHeader) => ContextEntry | undefined;
  /** Devices and pipes so far. */
  skipped: () => number;
};

/** Rules for the entries of one archive, which they must see in order. */
export function createContextRules(limits: ContextLimits = contextLimits): ContextRules {
  const kinds = new Map<string, ContextEntry["kind"]>();
  let [pathBytes, skipped] = [0, 0];
  const add = (path: string, kind: ContextEntry["kind"], given: string) => {
    kinds.set(path, kind);
    pathBytes += path.length;
    if (kinds.size > limits.entries)
      throw unsafe(given, `a context may have at most ${limits.entries} entries`);
    if (pathBytes > limits.pathBytes) throw unsafe(given, "the paths of all entries are too long together");
  };
  // Outermost first, so that the reason names the link and not what lies below it.
  const addFolders = (path: string, given: string) => {
    if (path === "" || kinds.get(path) === "folder") return;
    addFolders(splitPath(path).folder, given);
    if (kinds.has(path)) throw unsafe(given, "it lies below an entry that is not a folder");
    add(path, "folder", given);
  };
  return {
    skipped: () => skipped,
    accept: (header) => {
      const path = pathOf(header.path);
      const kind = kindOf(header);
      if (kind === "device") {
        skipped += 1;
        return undefined;
      }
      if (path === "" && kind === "folder") return undefined;
      if (path === "") throw unsafe(header.path, "it has no name");
      if (header.realSize !== undefined)
        throw unsafe(header.path, "it is a sparse file; pack it without --sparse");
      if (kind !== "file" && header.size > 0) throw unsafe(header.path, "only files have content");
      addFolders(splitPath(path).folder, header.path);
      const earlier = kinds.get(path);
      if (earlier !== undefined && (earlier !== "folder" || kind !== "folder"))
        throw unsafe(header.path, "an entry of that path was there before");
      const target =
        kind === "symlink" || kind === "hardlink" ? targetOf(header, { path, kind, kinds }) : undefined;
      if (earlier === undefined) add(path, kind, header.path);
      const { mode, mtimeMs, size } = header;
      return { path, kind, mode, mtimeMs, size, ...(target !== undefined && { target }) };
    },
  };
}

function kindOf(header: RawHeader): ContextEntry["kind"] | "device" {
  if (header.size < 0) throw corrupt("a size is negative");
  switch (header.type) {
    case "0":
    case "7":
      return header.path.endsWith("/") ? "folder" : "file";
    case "1":
      return "hardlink";
    case "2":
      return "symlink";
    case "3":
    case "4":
    case "6":
      return "device";
    case "5":
      return "folder";
    default:
      throw unsafe(header.path, `entries of type ${JSON.stringify(header.type)} are not supported`);
  }
}

/** A path without dots and doubled slashes; empty for the root. */
function pathOf(given: string): string {
  if (given.startsWith("/")) throw unsafe(given, "its path is absolute");
  assertText(given, given);
  const names = given.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    const reason = whyNoEntry(name);
    if (reason) throw unsafe(given, reason);
  }
  return names.join("/");
}

type Linked = {
  path: string;
  kind: "symlink" | "hardlink";
  kinds: ReadonlyMap<string, ContextEntry["kind"]>;
};

function targetOf({ path: given, target = "" }: RawHeader, { path, kind, kinds }: Linked): string {
  assertText(given, target);
  if (kind === "hardlink") {
    const file = pathOf(target);
    if (kinds.get(file) !== "file")
      throw unsafe(given, "it is a hard link to something that is not an earlier file");
    return file;
  }
  if (target === "" || target.startsWith("/"))
    throw unsafe(given, "it is a link that leads out of the context");
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const downFrom = names.findIndex((name) => name !== "..");
  const ups = downFrom < 0 ? names.length : downFrom;
  if (ups > path.split("/").length - 1) throw unsafe(given, "it is a link that leads out of the context");
  if (names.slice(ups).includes(".."))
    throw unsafe(given, "it is a link that leads down and up again, which may leave the context");
  return target;
}

function assertText(given: string, text: string): void {
  if (controls.test(text)) throw unsafe(given, "a name contains a control character");
  if (!text.isWellFormed()) throw unsafe(given, "a name is not UTF-8");
  if (text.length * 3 > longPathBytes && Buffer.byteLength(text) > longPathBytes)
    throw unsafe(given, `a path is longer than ${longPathBytes} bytes`);
}
