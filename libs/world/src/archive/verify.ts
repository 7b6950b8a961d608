// Reads an archive to its end before anybody relies on it.

import { WorldFault } from "../fault.ts";
import { checkIndex } from "./index-check.ts";
import type { Archive, ReadOptions } from "./open.ts";
import { shown } from "./tar-entry.ts";
import { corrupt, type TarEntry } from "./tar-header.ts";
import { type ReadEntry, readTar } from "./tar-reader.ts";

export type Verified = { sizeBytes: number; sha256: string; entries: number; files: number; bytes: number };

export type VerifyOptions = ReadOptions & {
  /** The digest that the archive must have. */
  sha256?: string | undefined;
  onEntry?: ((entry: ReadEntry) => void) | undefined;
};

/**
 * Checks checksums, structure, index and digest: what reads back is what a restore takes. Throws `backup_corrupt`, and as
 * `readTar` and `Tree` for what no world may hold.
 */
export async function verifyArchive(archive: Archive, options: VerifyOptions = {}): Promise<Verified> {
  const { plain, sha256 } = archive.readAll(options);
  const counted = { entries: 0, files: 0, bytes: 0 };
  const index = archive.seek && checkIndex(await archive.seek.index());
  const tree = new Tree();
  for await (const entry of readTar(plain)) {
    tree.add(entry);
    await index?.next(entry);
    counted.entries += 1;
    counted.files += entry.kind === "file" ? 1 : 0;
    counted.bytes += entry.size;
    options.onEntry?.(entry);
  }
  await index?.end();
  const digest = sha256();
  if (options.sha256 !== undefined && digest !== options.sha256)
    throw corrupt("its sha256 is not the one recorded when it was made");
  return { ...counted, sizeBytes: archive.size, sha256: digest };
}

const mostEntries = 2_000_000;

/** Remembers the tree of an archive and refuses what cannot be one: two entries of one name, a file that is a folder. */
export class Tree {
  readonly #kinds = new Map<string, TarEntry["kind"]>();

  get paths(): ReadonlyMap<string, TarEntry["kind"]> {
    return this.#kinds;
  }

  /** Throws `archive_invalid` for a name that came before, `type_conflict` for a file with entries in it. */
  add({ path, kind }: Pick<TarEntry, "path" | "kind">): void {
    const before = this.#kinds.get(path);
    if (before === "folder" && kind === "folder") return;
    if (before !== undefined && before !== kind) throw conflict(path);
    if (before !== undefined)
      throw new WorldFault("archive_invalid", `The archive holds ${shown(path)} twice.`, {
        entry: shown(path),
      });
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const parent = path.slice(0, at);
      const known = this.#kinds.get(parent);
      if (known === "file") throw conflict(parent);
      if (known === "folder") break;
      this.#kinds.set(parent, "folder");
    }
    this.#kinds.set(path, kind);
    if (this.#kinds.size > mostEntries)
      throw new WorldFault("archive_invalid", `The archive holds more than ${mostEntries} entries.`);
  }
}

function conflict(path: string): WorldFault {
  const entry = shown(path);
  return new WorldFault("type_conflict", `In the archive ${entry} is both a file and a folder.`, { entry });
}
