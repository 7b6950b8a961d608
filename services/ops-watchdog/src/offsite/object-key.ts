// Keys of objects in the bucket (docs/reference/off-site.md#bucket).

import { type BundleName, parseBundleName } from "../bundle/name.ts";
import { walOfKey } from "./wal-key.ts";

/** Which keys the objects are sealed with; clear text. */
export const keyIdObject = "svc-key-id";
/** Which installation writes to the bucket; clear text. */
export const writerObject = "svc-writer";

const suffix = ".sealed";
const manifestSuffix = ".chunks";
const packFolder = "worlds/packs/";
const archiveShape = /^([a-z0-9-]{1,200})-(\d{1,20})\.tar\.(zst|gz)$/;

const packShape = /^([a-z0-9-]{1,200})-[0-9a-f]{32}\.pack$/;

const stampShape = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.json$/;
const partShape = /^(registry\/(?:blobs|manifests)|uploads\/blobs)\/([0-9a-f]{64})\.sealed$/;

/** What the manifests name, and since when nothing names a pack; one object that is written again. */
export const packListObject = `worlds/packs.json${suffix}`;

/** Where images and contexts are, as lists and as what the lists name. */
export const indexFolders = ["registry", "uploads"] as const;
export type IndexFolder = (typeof indexFolders)[number];

type ArchiveName = {
  name: string;
  server: string;
  /** When the archive was begun, as its name says. */
  begunAt: Date;
};

export const keyOfBundle = (name: string): string => `db/${name}${suffix}`;
export const keyOfArchive = (name: string): string => `worlds/${name}${suffix}`;
/** Of an archive whose chunks are in packs. */
export const keyOfManifest = (archive: string): string => `worlds/${archive}${manifestSuffix}${suffix}`;
export const keyOfPack = (name: string): string => `${packFolder}${name}${suffix}`;
/** What the keys of all packs of a server, and some of others, begin with. */
export const packsOfServer = (server: string): string => `${packFolder}${server}-`;

/** The bundle of an object; undefined for every other object. */
export function bundleOfKey(key: string): BundleName | undefined {
  const name = nameIn("db/", key);
  return name === undefined ? undefined : parseBundleName(name);
}

/** The archive of an object that is a whole one; undefined for every other object. */
export function archiveOfKey(key: string): ArchiveName | undefined {
  return parseArchive(nameIn("worlds/", key));
}

/** The archive whose manifest an object is; undefined for every other object. */
export function manifestOfKey(key: string): ArchiveName | undefined {
  const name = nameIn("worlds/", key);
  return name?.endsWith(manifestSuffix) ? parseArchive(name.slice(0, -manifestSuffix.length)) : undefined;
}

/** The pack that an object is, and of which server; undefined for every other object. */
export function packOfKey(key: string): { name: string; server: string } | undefined {
  const name = nameIn(packFolder, key);
  const server = name === undefined ? undefined : packShape.exec(name)?.[1];
  return name === undefined || server === undefined ? undefined : { name, server };
}

export type WorldCounts = {
  /** Archives that are whole objects. */
  whole: number;
  /** Archives whose chunks are in packs. */
  in_packs: number;
  packs: number;
};

export function countWorlds(keys: readonly string[]): WorldCounts {
  const count = (parse: (key: string) => unknown) => keys.filter((key) => parse(key) !== undefined).length;
  return { whole: count(archiveOfKey), in_packs: count(manifestOfKey), packs: count(packOfKey) };
}

function parseArchive(name: string | undefined): ArchiveName | undefined {
  const [, server, stamp] = name === undefined ? [] : (archiveShape.exec(name) ?? []);
  if (name === undefined || server === undefined || stamp === undefined) return undefined;
  // Unix nanoseconds (docs/reference/backups.md#archive).
  return { name, server, begunAt: new Date(Number(BigInt(stamp) / 1_000_000n)) };
}

function nameIn(folder: string, key: string): string | undefined {
  return key.startsWith(folder) && key.endsWith(suffix)
    ? key.slice(folder.length, -suffix.length)
    : undefined;
}

/** `at` is a UTC time such as 20261123T120000Z. */
export const keyOfIndex = (folder: IndexFolder, at: string): string => `${folder}/index/${at}.json${suffix}`;
export const keyOfPart = (folder: IndexFolder, kind: "blobs" | "manifests", sha256: string): string =>
  `${folder}/${kind}/${sha256}${suffix}`;
export const stampOf = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d+/g, "");

/** The list of an object; undefined for every other object. */
export function indexOfKey(key: string): { folder: IndexFolder; at: Date } | undefined {
  for (const folder of indexFolders) {
    const [, year, month, day, hour, minute, second] =
      stampShape.exec(nameIn(`${folder}/index/`, key) ?? "") ?? [];
    if (year === undefined) continue;
    const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    if (!Number.isNaN(at.getTime())) return { folder, at };
  }
  return undefined;
}

/** What lists name, by its digest; undefined for every other object. */
export function partOfKey(key: string): { folder: IndexFolder; sha256: string } | undefined {
  const [, place = "", sha256] = partShape.exec(key) ?? [];
  if (sha256 === undefined) return undefined;
  return { folder: place.startsWith("registry/") ? "registry" : "uploads", sha256 };
}

/** Whether svc made the object, sealed with one of its keys. */
export const isSealedObject = (key: string): boolean =>
  key === packListObject || parsers.some((parse) => parse(key) !== undefined);

const parsers = [bundleOfKey, archiveOfKey, manifestOfKey, packOfKey, indexOfKey, partOfKey, walOfKey];
