// Which entries of a tar may become files of a world. Names are taken as the file system would hold them: a backslash or
// a colon is a letter like any other here, for a backup must give back what it took.

import { WorldFault } from "../fault.ts";
import { whyNoEntry } from "../path/name.ts";
import { isHidden } from "../path/parse.ts";
import type { RawHeader, TarEntry } from "./tar-header.ts";

const deepest = 200;

/** The entry that a header stands for; undefined for the root itself. */
export function entryOf(header: RawHeader): TarEntry | undefined {
  const kind = kindOf(header);
  const path = safePath(header.path);
  if (path === "") {
    if (kind === "folder") return undefined;
    throw unsafe(header.path, "it has no name");
  }
  if (kind === "folder" && header.size > 0) throw unsafe(header.path, "a folder has content");
  return { path, kind, mode: header.mode, mtimeMs: header.mtimeMs, size: header.size };
}

/** A path without dots and doubled slashes. Throws `archive_unsafe` for one that would lead out of the world. */
function safePath(path: string): string {
  if (path.startsWith("/")) throw unsafe(path, "its path is absolute");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length > deepest) throw unsafe(path, "it lies too deep");
  for (const name of names) {
    const reason = whyNoEntry(name);
    if (reason) throw unsafe(path, reason);
  }
  if (isHidden(names[0] ?? ""))
    throw unsafe(path, "names that begin with .svc- belong to running operations");
  return names.join("/");
}

function kindOf(header: RawHeader): TarEntry["kind"] {
  if (header.size < 0) throw unsafe(header.path, "its size is negative");
  switch (header.type) {
    case "0":
    case "7":
      return header.path.endsWith("/") ? "folder" : "file";
    case "5":
      return "folder";
    case "1":
    case "2":
      throw new WorldFault("archive_symlink", `The archive holds a link, ${shown(header.path)}.`, {
        entry: shown(header.path),
      });
    default:
      throw unsafe(header.path, `entries of type ${JSON.stringify(header.type)} have no place in a world`);
  }
}

export function unsafe(path: string, reason: string): WorldFault {
  return new WorldFault("archive_unsafe", `The archive entry ${shown(path)} is refused: ${reason}.`, {
    entry: shown(path),
  });
}

/** A path as it can be told: text, and not without end. */
export function shown(path: string): string {
  return path.toWellFormed().slice(0, 1_000);
}
