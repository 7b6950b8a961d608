import type { ByteTransfers, Handler } from "@svc/mesh";
import { type archives, Fault } from "@svc/proto";
import { type ArchiveFile, Folder, isWorldFault, openStored, readAhead } from "@svc/world";
import { claimTicket } from "../job/archive-ticket-store.ts";
import { hashOf } from "../one-time-token.ts";
import type { SharedDeps } from "../transfer/deps.ts";

type Download = Parameters<ByteTransfers["download"]>[0];

/** storage.archive.send */
export const send =
  (deps: Pick<SharedDeps, "db" | "settings" | "now" | "byteTransfers">): Handler<typeof archives.send> =>
  async (context, { id, token }) => {
    const about = { id, kind: "get", tokenHash: hashOf(token), now: new Date(deps.now()) } as const;
    const ticket = await claimTicket(deps.db, about);
    if (!ticket) throw context.fault("not_found");
    const { archive } = ticket;
    const { local_path } = deps.settings.archive;
    context.reply.byteTransfer = deps.byteTransfers.download(await downloadOf(local_path, archive));
    return null;
  };

/** The download of a stored archive; throws `backup_corrupt` when it is missing. */
export async function downloadOf(folder: string, archive: string): Promise<Download> {
  const size = await sizeOf(folder, archive);
  const type = archive.endsWith(".gz") ? "application/gzip" : "application/zstd";
  return {
    headers: { "Content-Type": type, "Content-Length": String(size) },
    source: (signal) => read({ folder, archive, size }, signal),
  };
}

async function sizeOf(folder: string, archive: string): Promise<number> {
  await using file = await openArchiveFile(folder, archive);
  return (await file.stat()).size;
}

async function openArchiveFile(folder: string, archive: string): Promise<ArchiveFile> {
  await using root = await Folder.openRoot(folder);
  // Awaited here: the folder must stay open until the file is open.
  return await openStored(root, archive, { isCompared: true }).catch((error: unknown) => {
    if (!isWorldFault(error)) throw error;
    const message = isWorldFault(error, "backup_corrupt")
      ? error.message
      : `The archive ${archive} is missing.`;
    throw new Fault("backup_corrupt", { message, cause: error });
  });
}

type StoredArchive = { folder: string; archive: string; size: number };

async function* read(
  { folder, archive, size }: StoredArchive,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  await using file = await openArchiveFile(folder, archive);
  for await (const chunk of readAhead(file, size)) {
    signal.throwIfAborted();
    yield chunk;
  }
}
