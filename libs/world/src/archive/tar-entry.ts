// Which entries of a tar may become files of a world. Names are those of the file system: a backslash or a colon is an
// ordinary character, so that a backup restores what it saved.

import { WorldFault } from "../fault.ts";
import { splitPath } from "../path/ancestry.ts";
import { mostPathBytes } from "../path/limits.ts";
import { encodeName, whyNoEntry } from "../path/name.ts";
import { isHidden } from "../path/parse.ts";
import type { RawHeader, TarEntry } from "./tar-header.ts";

/** The folder of the previous entry, already checked: consecutive paths mostly share their start. */
export type Judged = { folder: string };

/** The entry of a header; undefined for the root itself. `judged` is carried from entry to entry of one archive. */
export function entryOf(header: RawHeader, judged: Judged): TarEntry | undefined {
  const kind = kindOf(header);
  const path = safePath(header.path, judged);
  if (path === "") {
    if (kind === "folder") return undefined;
    throw unsafe(header.path, "it has no name");
  }
  if (kind === "folder" && header.size > 0) throw unsafe(header.path, "a folder has content");
  judged.folder = kind === "folder" ? path : splitPath(path).folder;
  const { mode, mtimeMs, size, realSize } = header;
  return { path, kind, mode, mtimeMs, size: realSize ?? size };
}

/** A path without dots and doubled slashes. Throws `archive_unsafe` for one that leaves the world. */
function safePath(path: string, judged: Judged): string {
  if (path.startsWith("/")) throw unsafe(path, "its path is absolute");
  if (isTooLong(path)) throw unsafe(path, `its path is longer than ${mostPathBytes} bytes`);
  const known = judged.folder !== "" && path.startsWith(`${judged.folder}/`) ? judged.folder : "";
  const names = path
    .slice(known.length)
    .split("/")
    .filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    const reason = whyNoEntry(name);
    if (reason) throw unsafe(path, reason);
  }
  if (known === "" && isHidden(names[0] ?? ""))
    throw unsafe(path, "names that begin with .svc- belong to running operations");
  if (known !== "" && names.length === 0) return known;
  return known === "" ? names.join("/") : `${known}/${names.join("/")}`;
}

function isTooLong(path: string): boolean {
  return path.length * 3 > mostPathBytes && encodeName(path).length > mostPathBytes;
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
      throw new WorldFault("archive_symlink", `The archive holds a link, ${printable(header.path)}.`, {
        entry: printable(header.path),
      });
    default:
      throw unsafe(header.path, `entries of type ${JSON.stringify(header.type)} are not allowed in a world`);
  }
}

export function unsafe(path: string, reason: string): WorldFault {
  return new WorldFault("archive_unsafe", `The archive entry ${printable(path)} is rejected: ${reason}.`, {
    entry: printable(path),
  });
}

/** A path for messages: well-formed text of bounded length. */
export function printable(path: string): string {
  return path.toWellFormed().slice(0, 1_000);
}
