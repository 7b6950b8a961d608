// Archives are read from the archive folder, or fetched whole first: they are read twice, and from any place.

import { mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "@svc/proto/world-task";
import { type ArchiveFile, fetchStream, isWorldFault, openStored, WorldFault, writeAll } from "@svc/world";
import { type Context, targetOf } from "../context.ts";

type Source = AsyncDisposable & { file: ArchiveFile };

/** Throws `backup_corrupt` for an archive that is gone, `transfer_failed`. */
export async function openSource(
  from: Place,
  context: Context,
  about?: { isCompared: boolean },
): Promise<Source> {
  if (from.kind === "archive") return await openKept(from.name, context, about);
  const folder = await mkdtemp(join(context.tmp, "svc-fetch-"));
  try {
    const file = await open(join(folder, "archive"), "wx+", 0o600);
    const target = targetOf(from.url, context);
    for await (const chunk of fetchStream(target)) {
      await writeAll(file, chunk);
    }
    return { file, [Symbol.asyncDispose]: () => file.close().then(() => rm(folder, { recursive: true })) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function openKept(
  name: string,
  { archive }: Context,
  about?: { isCompared: boolean },
): Promise<Source> {
  try {
    const file = await openStored(archive, name, about);
    return { file, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    if (!isWorldFault(error, "not_found", "bad_path")) throw error;
    throw new WorldFault("backup_corrupt", `The archive ${name} is missing.`);
  }
}
