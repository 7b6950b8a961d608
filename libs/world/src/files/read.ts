// Reading: one folder as a list, one file as bytes.

import { createHash } from "node:crypto";
import type { FileEntry } from "@svc/proto/world-task";
import { WorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { isHidden, parsePath, parseTarget } from "../path/parse.ts";
import { findProtected, isForwarding, isProperties, maskPassword } from "../path/protect.ts";

type Listing = { listing: FileEntry[]; truncated: boolean; freeBytes: number | undefined };

/** `from`: the first name that is listed. */
type Page = { most: number; from?: string | undefined };

/** The entries of a folder by name, at most `most`. Throws `bad_path`, `not_found`. */
export async function listFolder(world: Folder, path: string, { most, from = "" }: Page): Promise<Listing> {
  await using folder = await world.descend(parsePath(path));
  // Names that are no UTF-8 are shown otherwise than they are: by what is shown, so that a reader can go on from the last.
  const seen = (await folder.list())
    .map(({ name }) => ({ name, shown: name.toWellFormed() }))
    .filter(({ name, shown }) => !isHidden(name) && shown >= from)
    .sort((one, other) => (one.shown < other.shown ? -1 : 1));
  const listing: FileEntry[] = [];
  for (const { name, shown } of seen.slice(0, most)) {
    const stats = await folder.find(name);
    if (!stats) continue;
    listing.push({
      name: shown,
      size: stats.isDirectory() ? 0 : stats.size,
      is_dir: stats.isDirectory(),
      mod_time: new Date(stats.mtimeMs).toISOString(),
    });
  }
  return { listing, truncated: seen.length > most, freeBytes: await world.freeBytes() };
}

type Content = {
  content: Buffer;
  /** Of the file as it is stored. */
  sha256: string;
  /** Of `content`, which differs where a secret was masked. */
  contentSha256: string;
};

/** A whole file. Throws `bad_path`, also for the forwarding secret, `not_found`, `too_large`. */
export async function readSmallFile(world: Folder, path: string, mostBytes: number): Promise<Content> {
  const { parents, name } = parseTarget(path);
  await using folder = await world.descend(parents);
  await using file = await folder.openFile(name);
  const stats = await file.stat();
  const known = await findProtected(world);
  if (isForwarding(known, stats)) throw forwardingRefusal();
  if (stats.size > mostBytes)
    throw new WorldFault(
      "too_large",
      `${name} has ${stats.size} bytes; at most ${mostBytes} can be read at once.`,
    );
  const stored = await file.readFile();
  const content = isProperties(known, stats) ? masked(stored) : stored;
  return { content, sha256: digestOf(stored), contentSha256: digestOf(content) };
}

/** `server.properties` without the password, every other byte unchanged. */
export function masked(stored: Buffer): Buffer {
  return Buffer.from(maskPassword(stored.toString("latin1")), "latin1");
}

export function forwardingRefusal(): WorldFault {
  return new WorldFault(
    "bad_path",
    "config/paper-global.yml holds the secret of the proxy and can't be read or downloaded.",
  );
}

export function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
