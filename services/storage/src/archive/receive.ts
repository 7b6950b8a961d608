import type { Handler } from "@svc/mesh";
import type { archives } from "@svc/proto";
import { claimTicket, recordReceipt } from "../job/archive-ticket-store.ts";
import { hashOf } from "../one-time-token.ts";
import type { SharedDeps } from "../transfer/deps.ts";
import { openArchiveFolder } from "../volume/archive-folder.ts";
import { storeArchive } from "./store-archive.ts";

/** storage.archive.receive: answers when the archive is stored and its receipt is recorded. */
export const receive =
  (deps: Pick<SharedDeps, "db" | "settings" | "now" | "byteTransfers">): Handler<typeof archives.receive> =>
  async (context, { id, token }) => {
    const { db, settings, now } = deps;
    const about = { id, kind: "put", tokenHash: hashOf(token), now: new Date(now()) } as const;
    const ticket = await claimTicket(db, about);
    if (!ticket) throw context.fault("not_found");
    const { local_path: folder } = settings.archive;
    const { keep_free: keepFree, transfer_stall: stallMs } = settings.storage;
    context.reply.byteTransfer = deps.byteTransfers.upload({
      stallMs,
      receive: async (body, { trailerDigest }, signal) => {
        const incoming = { folder, name: ticket.archive, keepFree, trailerDigest, signal };
        const kept = await storeArchive(body, incoming);
        if (await recordReceipt(db, id, { ...kept, now: new Date(now()) })) return null;
        await openArchiveFolder(folder).remove(ticket.archive);
        throw context.fault("not_found", { message: "This archive is no longer needed." });
      },
    });
    return null;
  };
