import type { Handler, Mesh } from "@svc/mesh";
import { images } from "@svc/proto";
import { missingSetting } from "../build/policy.ts";
import type { BuildsDb } from "../database.ts";
import { createRegistry } from "../image/registry.ts";
import { type RescanDeps, startRescans } from "./rescan.ts";
import { listFlagged } from "./store.ts";

type Deps = Omit<RescanDeps, "registry" | "mesh"> & { mesh: Pick<Mesh, "serve" | "call"> };

/** Serves what was found, and asks for scans where the installation can scan. */
export function serveRescans(deps: Deps): { close: () => Promise<void> } {
  const { db, mesh, settings } = deps;
  mesh.serve(images.listFlagged, createListFlagged({ db, pageSize: settings.builds.list_page }));
  const registry = createRegistry(settings.registry);
  const isOff = missingSetting(settings) !== undefined || settings.registry.rescan_every === 0;
  return isOff || !registry ? { close: async () => undefined } : startRescans({ ...deps, registry });
}

/** builds.image.list-flagged */
function createListFlagged({
  db,
  pageSize,
}: {
  db: BuildsDb;
  pageSize: number;
}): Handler<typeof images.listFlagged> {
  return async (_context, { cursor }) => {
    const rows = await listFlagged(db, { after: cursor ?? "", limit: pageSize + 1 });
    const items = rows
      .slice(0, pageSize)
      .map((row) => ({ ...row, scanned_at: row.scanned_at.toISOString() }));
    const next = rows.length > pageSize ? items.at(-1)?.image_ref : undefined;
    return next === undefined ? { items } : { items, next };
  };
}
