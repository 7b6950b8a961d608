import type { Handler } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { toKeptBackup } from "./row.ts";
import { listBackups } from "./store.ts";

/** storage.backup.find */
export const find =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof backupKeeping.findBackups> =>
  async (_context, { server, limit, offset }) => {
    const page = { limit, offset, ...(server !== undefined && { server }) };
    const { rows, total } = await listBackups(db, { scope: { kind: "all" }, ...page });
    return { backups: rows.map(toKeptBackup), total };
  };
