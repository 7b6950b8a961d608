import type { Handler } from "@svc/mesh";
import type { offsiteArchives } from "@svc/proto";
import { downloadOf } from "../archive/send.ts";
import { archiveNameOf } from "../backup/row.ts";
import type { SharedDeps } from "../transfer/deps.ts";
import { findPresent } from "./store.ts";

/** storage.offsite.read-archive */
export const readArchive =
  (
    deps: Pick<SharedDeps, "db" | "settings" | "byteTransfers">,
  ): Handler<typeof offsiteArchives.readArchive> =>
  async (context, { id }) => {
    const row = await findPresent(deps.db, id);
    if (!row) throw context.fault("no_backup");
    const { local_path: folder } = deps.settings.archive;
    context.reply.byteTransfer = deps.byteTransfers.download(await downloadOf(folder, archiveNameOf(row)));
    return null;
  };
