import type { Handler } from "@svc/mesh";
import type { backups } from "@svc/proto";
import type { StorageDeps } from "../deps.ts";
import { listWorldSizes } from "./store.ts";

/** storage.backup.list-world-sizes: also of backups whose archive has been deleted. */
export const listSizes =
  ({ db }: Pick<StorageDeps, "db">): Handler<typeof backups.listWorldSizes> =>
  async (_context, { server, since }) => {
    const rows = await listWorldSizes(db, { server, since: new Date(since) });
    return {
      sizes: rows.map(({ created_at, world_bytes }) => ({
        at: created_at.toISOString(),
        bytes: world_bytes,
      })),
    };
  };
