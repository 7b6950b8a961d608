import type { Handler } from "@svc/mesh";
import type { backups } from "@svc/proto";
import { scopeOf } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { toBackupView } from "./row.ts";
import { listBackups } from "./store.ts";

/** storage.backup.list: `server` only narrows what the caller may see. */
export const list =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof backups.list> =>
  async ({ principal }, { server, limit, offset }) => {
    const page = { limit, offset, ...(server !== undefined && { server }) };
    const { rows, total } = await listBackups(db, { scope: scopeOf(principal), ...page });
    return { backups: rows.map(toBackupView), total };
  };
