// Unpacks a build context into an empty folder. Modes are kept but for what lets others write; times and owners are not.

import { link, symlink } from "node:fs/promises";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import { createFileWriter } from "../path/file-writer.ts";
import { explain, type Folder } from "../path/folder.ts";
import { type ReadContext, readContext, readPack } from "./read.ts";
import { type ContextLimits, contextLimits } from "./rules.ts";

const smallBytes = 256 << 10;

/** Returns what was unpacked and what was left out. Throws as `readContext`, and `volume_full`; the folder is then incomplete. */
export async function unpackContext(
  packed: AsyncIterable<Uint8Array>,
  root: Folder,
  limits: ContextLimits = contextLimits,
): Promise<{ entries: number; skipped: number }> {
  return await write(readContext(packed, limits), root);
}

/** As `unpackContext` for an archive within a context, which needs no Dockerfile; `isPlain` for a tar that is not compressed. */
export async function unpackPack(
  packed: AsyncIterable<Uint8Array>,
  root: Folder,
  options: { limits: ContextLimits; isPlain: boolean },
): Promise<void> {
  await write(readPack(packed, options.limits, options), root);
}

async function write(reading: ReadContext, root: Folder): Promise<{ entries: number; skipped: number }> {
  await using folders = new Cursor(root);
  await using sources = new Cursor(root);
  let count = 0;
  for await (const entry of reading.entries) {
    count += 1;
    const { folder: outer, name } = splitPath(entry.path);
    const mode = entry.mode & 0o755;
    if (entry.kind === "folder") {
      await folders.at(entry.path, { make: true });
      continue;
    }
    const folder = await folders.at(outer, { make: true });
    if (entry.kind === "file") {
      await writeFile(folder, { name, mode: mode | 0o600, size: entry.size }, entry.content());
    } else if (entry.kind === "symlink") {
      await symlink(entry.target ?? "", folder.at(name)).catch((error: unknown) => {
        throw explain(error, entry.path);
      });
    } else {
      const first = splitPath(entry.target ?? "");
      const source = await sources.at(first.folder);
      await link(source.at(first.name), folder.at(name)).catch((error: unknown) => {
        throw explain(error, entry.path);
      });
    }
  }
  return { entries: count, skipped: reading.skipped() };
}

type NewFile = { name: string; mode: number; size: number };

async function writeFile(
  folder: Folder,
  { name, mode, size }: NewFile,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  if (size <= smallBytes) {
    const chunks: Buffer[] = [];
    // A chunk is valid until the next one is requested.
    for await (const chunk of content) chunks.push(Buffer.from(chunk));
    return folder.putFile(name, Buffer.concat(chunks), { mode });
  }
  const file = await folder.createFile(name, mode);
  try {
    const writer = createFileWriter(file);
    for await (const chunk of content) if (!writer.write(Buffer.from(chunk))) await writer.flush();
    await writer.finish();
  } catch (error) {
    throw explain(error, name);
  } finally {
    await file.close();
  }
}
