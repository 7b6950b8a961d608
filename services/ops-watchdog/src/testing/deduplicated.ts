// Deduplicated archives in a folder, as storage's Jobs write them.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Folder,
  manifestNameOf,
  openStored,
  readAhead,
  readManifestHead,
  storeDeduplicated,
} from "@svc/world";

/** Files of a world by their names. */
export type WorldFiles = Readonly<Record<string, Buffer>>;

/** Stores the archive of a world; its size and digest as one file. */
export async function storeWorld(
  folder: string,
  { name, files }: { name: string; files: WorldFiles },
): Promise<{ sizeBytes: number; sha256: string }> {
  const path = mkdtempSync(join(tmpdir(), "svc-world-"));
  try {
    mkdirSync(join(path, "region"));
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(path, "region", file), bytes);
    await using world = await Folder.openRoot(path);
    await using store = await Folder.openRoot(folder);
    return await storeDeduplicated({ world, store, name, keepFree: 0 });
  } finally {
    rmSync(path, { recursive: true });
  }
}

/** Packs that the manifest of an archive names; none where it cannot be read. */
export async function packsOf(folder: string, archive: string): Promise<string[]> {
  await using store = await Folder.openRoot(folder);
  const { packs } = await readManifestHead(store, archive);
  return packs.map(({ name }) => name);
}

/** The archive as one file, from whichever form it is there in. */
export async function readStored(folder: string, archive: string): Promise<Buffer> {
  await using store = await Folder.openRoot(folder);
  await using file = await openStored(store, archive);
  const chunks: Buffer[] = [];
  for await (const chunk of readAhead(file, (await file.stat()).size)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** What storage says of the file of an archive. */
export async function localOf(
  folder: string,
  { archive, size_bytes }: { archive: string; size_bytes: number },
): Promise<{ local: "whole" | "missing" | "other_size"; is_deduplicated?: true }> {
  const whole = join(folder, archive);
  if (existsSync(whole)) return { local: statSync(whole).size === size_bytes ? "whole" : "other_size" };
  if (!existsSync(join(folder, manifestNameOf(archive)))) return { local: "missing" };
  const packs = await packsOf(folder, archive).catch(() => undefined);
  const isWhole = packs?.every((pack) => existsSync(join(folder, pack))) ?? false;
  return { local: isWhole ? "whole" : "other_size", is_deduplicated: true };
}

export const readPart = (folder: string, { archive, pack }: { archive: string; pack: string | undefined }) =>
  readFileSync(join(folder, pack ?? manifestNameOf(archive)));
