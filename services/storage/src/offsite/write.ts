import { stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Handler } from "@svc/mesh";
import { Fault, type offsiteArchives } from "@svc/proto";
import { storeArchive } from "../archive/store-archive.ts";
import { archiveNameOf } from "../backup/row.ts";
import { clearBackupCorrupt } from "../backup/store.ts";
import type { SharedDeps } from "../transfer/deps.ts";
import { findPresent } from "./store.ts";

/** storage.offsite.write-archive: answers when the archive is in its place again, synced and verified. */
export const writeArchive =
  (
    deps: Pick<SharedDeps, "db" | "settings" | "now" | "byteTransfers">,
  ): Handler<typeof offsiteArchives.writeArchive> =>
  async (context, { id }) => {
    const { db, settings, now } = deps;
    const row = await findPresent(db, id);
    if (!row) throw context.fault("no_backup");
    const { local_path: folder } = settings.archive;
    const { keep_free: keepFree, transfer_stall: stallMs } = settings.storage;
    const name = archiveNameOf(row);
    const digest = `sha-256=:${Buffer.from(row.sha256, "hex").toString("base64")}:`;
    context.reply.byteTransfer = deps.byteTransfers.upload({
      stallMs,
      receive: async (body, _head, signal) => {
        await removeAbandoned(join(folder, `.${name}.partial`), stallMs);
        const incoming = { folder, name, keepFree, trailerDigest: () => digest, signal, replaces: true };
        await storeArchive(body, incoming);
        await clearBackupCorrupt(db, id, new Date(now()));
        return null;
      },
    });
    return null;
  };

/** What a killed process left of an earlier attempt; a file that still grows belongs to somebody. */
async function removeAbandoned(partial: string, stallMs: number): Promise<void> {
  const found = await stat(partial).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (!found) return;
  const waitMs = found.mtimeMs + stallMs - Date.now();
  if (waitMs > 0) {
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    throw new Fault("unavailable", { message: "The archive is being written already.", retryAfterSeconds });
  }
  await unlink(partial);
}
