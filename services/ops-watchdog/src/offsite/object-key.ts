// Keys of objects in the bucket (docs/reference/off-site.md#bucket).

import { type BundleName, parseBundleName } from "../bundle/name.ts";

/** Which keys the objects are sealed with; clear text. */
export const keyIdObject = "svc-key-id";
/** Which installation writes to the bucket; clear text. */
export const writerObject = "svc-writer";

const suffix = ".sealed";
const archiveShape = /^[a-z0-9-]{1,200}-(\d{1,20})\.tar\.(zst|gz)$/;

export type ArchiveName = {
  name: string;
  /** When the archive was begun, as its name says. */
  begunAt: Date;
};

export const keyOfBundle = (name: string): string => `db/${name}${suffix}`;
export const keyOfArchive = (name: string): string => `worlds/${name}${suffix}`;

/** The bundle of an object; undefined for every other object. */
export function bundleOfKey(key: string): BundleName | undefined {
  const name = nameIn("db/", key);
  return name === undefined ? undefined : parseBundleName(name);
}

/** The archive of an object; undefined for every other object. */
export function archiveOfKey(key: string): ArchiveName | undefined {
  const name = nameIn("worlds/", key);
  const stamp = name === undefined ? undefined : archiveShape.exec(name)?.[1];
  if (name === undefined || stamp === undefined) return undefined;
  // Unix nanoseconds (docs/reference/backups.md#archive).
  return { name, begunAt: new Date(Number(BigInt(stamp) / 1_000_000n)) };
}

function nameIn(folder: string, key: string): string | undefined {
  return key.startsWith(folder) && key.endsWith(suffix)
    ? key.slice(folder.length, -suffix.length)
    : undefined;
}
