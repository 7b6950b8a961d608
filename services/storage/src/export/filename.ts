// File names and media types of downloads. Pure.

import { nameOf } from "../file/path.ts";

export function archiveType(name: string): { type: string; ending: string } {
  return name.endsWith(".gz")
    ? { type: "application/gzip", ending: ".tar.gz" }
    : { type: "application/zstd", ending: ".tar.zst" };
}

/** File name of a world downloaded at `at`: `<server>-world-20260102-030405.tar.gz`. */
export function worldFilename(server: string, at: Date, ending: string): string {
  const stamp = at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return `${server}-world-${stamp}${ending}`;
}

export function fileFilename(path: string, isFolder: boolean): string {
  return isFolder ? `${nameOf(path)}.zip` : nameOf(path);
}

/** Content-Disposition of an attachment (RFC 6266): an ASCII name, and the exact one when it differs. */
export function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  if (plain === filename) return `attachment; filename="${filename}"`;
  const exact = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
