import type { FileHandle } from "node:fs/promises";
import type { ByteTransfers, Handler } from "@svc/mesh";
import { Fault, type offsiteArchives } from "@svc/proto";
import { Folder, isWorldFault, manifestNameOf, readAhead, readManifestHead } from "@svc/world";
import { archiveNameOf } from "../backup/row.ts";
import type { SharedDeps } from "../transfer/deps.ts";
import { findPresent } from "./store.ts";

/** storage.offsite.read-chunks */
export const readChunks =
  (deps: Pick<SharedDeps, "db" | "settings" | "byteTransfers">): Handler<typeof offsiteArchives.readChunks> =>
  async (context, { id, pack }) => {
    const row = await findPresent(deps.db, id);
    if (!row) throw context.fault("no_backup");
    const about = { folder: deps.settings.archive.local_path, archive: archiveNameOf(row), pack };
    context.reply.byteTransfer = deps.byteTransfers.download(await downloadOf(about));
    return null;
  };

type Wanted = { folder: string; archive: string; pack: string | undefined };

async function downloadOf(wanted: Wanted): Promise<Parameters<ByteTransfers["download"]>[0]> {
  await using file = await openWanted(wanted);
  const { size } = await file.stat();
  return {
    headers: { "Content-Type": "application/octet-stream", "Content-Length": String(size) },
    source: (signal) => read(wanted, { size, signal }),
  };
}

/** Throws `backup_corrupt` for what is missing, damaged, or a pack that the manifest does not name. */
async function openWanted({ folder, archive, pack }: Wanted): Promise<FileHandle> {
  await using root = await Folder.openRoot(folder);
  try {
    if (pack === undefined) return await root.openFile(manifestNameOf(archive));
    const named = (await readManifestHead(root, archive)).packs.find(({ name }) => name === pack);
    if (!named) throw new Fault("backup_corrupt", { message: `The archive ${archive} has no such pack.` });
    const file = await root.openFile(named.name);
    if ((await file.stat()).size === named.size) return file;
    await file.close();
    throw new Fault("backup_corrupt", { message: `The pack ${named.name} has another size.` });
  } catch (error) {
    if (!isWorldFault(error)) throw error;
    const what = pack === undefined ? `The manifest of ${archive}` : `The pack ${pack}`;
    throw new Fault("backup_corrupt", { message: `${what} is missing or damaged.`, cause: error });
  }
}

async function* read(
  wanted: Wanted,
  { size, signal }: { size: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  await using file = await openWanted(wanted);
  for await (const chunk of readAhead(file, size)) {
    signal.throwIfAborted();
    yield chunk;
  }
}
