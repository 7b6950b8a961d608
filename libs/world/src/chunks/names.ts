// Names in the archive folder (docs/reference/backups.md#deduplicated). Everything lies beside one another: a folder for each
// server would need the rights of two users and a sync of its own.

import { randomBytes } from "node:crypto";

const archiveShape = /^([a-z0-9-]+)-(\d+)\.tar\.(zst|gz)$/;
const partialShape = /^\.([a-z0-9-]+-\d+\.tar\.(?:zst|gz))(\.[0-9a-f]{16}\.chunks)?\.partial$/;
const packShape = /^([a-z0-9-]+)-[0-9a-f]{32}\.pack$/;

/**
 * What a name stands for. `manifest` says which chunks a deduplicated archive has; `lease` is the partial of one that is
 * being written, and as long as it is there no pack of its server is deleted; `retired` marks a pack that no new archive
 * refers to.
 */
export type StoreName = StoredArchive | StoredPack;
export type StoredArchive = {
  name: string;
  server: string;
  kind: "whole" | "manifest" | "partial" | "lease";
  archive: string;
};
type StoredPack = { name: string; server: string; kind: "pack" | "retired"; pack: string };

/** Undefined for what is not ours. */
export function parseStoreName(name: string): StoreName | undefined {
  const partial = partialShape.exec(name);
  if (partial) {
    const archive = partial[1] ?? "";
    const server = archiveShape.exec(archive)?.[1] ?? "";
    return { name, server, kind: partial[2] ? "lease" : "partial", archive };
  }
  const isRetired = name.endsWith(".retired");
  const pack = isRetired ? name.slice(0, -".retired".length) : name;
  const packed = packShape.exec(pack);
  if (packed) return { name, server: packed[1] ?? "", kind: isRetired ? "retired" : "pack", pack };
  const isManifest = name.endsWith(".chunks");
  const archive = isManifest ? name.slice(0, -".chunks".length) : name;
  const found = archiveShape.exec(archive);
  if (!found) return undefined;
  return { name, server: found[1] ?? "", kind: isManifest ? "manifest" : "whole", archive };
}

/** Whose archive it is. Throws for a name that is not of an archive. */
export function serverOf(archive: string): string {
  const server = archiveShape.exec(archive)?.[1];
  if (server === undefined) throw new Error(`${archive} is not an archive name`);
  return server;
}

/** Unix nanoseconds at which an archive was begun, from its name. */
export function startedAt(archive: string): bigint {
  return BigInt(archiveShape.exec(archive)?.[2] ?? 0);
}

export const manifestNameOf = (archive: string) => `${archive}.chunks`;
export const retiredNameOf = (pack: string) => `${pack}.retired`;
export const isPackOf = (server: string, pack: string) => packShape.exec(pack)?.[1] === server;

/** Never the name of another lease: what somebody took away does not come back, even for the same archive. */
export function newLeaseName(archive: string): string {
  return `.${archive}.${randomBytes(8).toString("hex")}.chunks.partial`;
}

/** Never the name of an earlier pack: a deleted one does not come back as another. */
export function newPackName(server: string): string {
  return `${server}-${randomBytes(16).toString("hex")}.pack`;
}
