import type { Handler } from "@svc/mesh";
import { backups } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { toBackupView } from "./row.ts";
import { listScope } from "./shared-scope.ts";
import { listBackups } from "./store.ts";

/** storage.backup.list: `server` only narrows what the caller may see. */
export const list =
  ({ db, mesh }: Pick<StorageDeps, "db" | "mesh">): Handler<typeof backups.list> =>
  async ({ principal }, { server, limit, offset }) => {
    const page = { limit, offset, ...(server !== undefined && { server }) };
    const scope = await listScope({ mesh }, principal, backups.list);
    const { rows, total } = await listBackups(db, { scope, ...page });
    return { backups: rows.map((row) => toBackupView(row, principal)), total };
  };
