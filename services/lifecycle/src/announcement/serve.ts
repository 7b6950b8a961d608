import type { Mesh } from "@svc/mesh";
import { announcements as contracts } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type { ServerRcon } from "../console/rcon.ts";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerDeps } from "../server/deps.ts";
import { createAnnouncer } from "./announcer.ts";
import { change, create, end, list, type ManageDeps } from "./manage.ts";
import { toAnnouncement } from "./row.ts";
import { isShown } from "./rules.ts";
import { createAnnouncementStore } from "./store.ts";

type AnnouncementNeeds = {
  mesh: Mesh;
  deps: ServerDeps;
  database: LifecycleStore;
  log: Logger;
  /** Shared with consoles: all commands for one server wait in one queue. */
  rcon: Pick<ServerRcon, "run">;
  /** Whether this replica reconciles: it alone announces. */
  isLeading: () => boolean;
};

/** Serves the operations and announces until closed. */
export function startAnnouncements(needs: AnnouncementNeeds): { close: () => Promise<void> } {
  const { mesh, deps, database, log, rcon, isLeading } = needs;
  const { settings, servers } = deps;
  const announcements = createAnnouncementStore(database);
  const now = Date.now;
  const announcer = createAnnouncer({
    ...{ mesh, announcements, servers, rcon, log, now },
    lateMs: settings.announcement_late,
    keepMs: settings.announcement_keep,
    concurrency: settings.schedule_concurrency,
  });
  const loop = startLoop(
    async (signal) => {
      if (isLeading()) await announcer.pass(signal);
      else await announcer.rest();
    },
    {
      everyMs: settings.announcement_tick,
      onError: (error) =>
        log.warn({ error: error.message }, "announcing failed; retrying with the next tick"),
    },
  );
  serve(mesh, { announcements, limit: settings.announcement_limit, now, onChange: loop.ring });
  return {
    close: async () => {
      await loop.close();
      await announcer.rest().catch(() => {});
    },
  };
}

function serve(mesh: Pick<Mesh, "serve">, deps: ManageDeps): void {
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.create, create(deps));
  mesh.serve(contracts.change, change(deps));
  mesh.serve(contracts.end, end(deps));
  // Gateways answer these from their copies of the views; they ask while they have none.
  const shown = async (onlyPublic: boolean) => {
    const at = deps.now();
    const open = await deps.announcements.open(new Date(at));
    const items = open.filter((row) => isShown(row, at) && (!onlyPublic || row.public)).map(toAnnouncement);
    return { items };
  };
  mesh.serve(contracts.listShown, () => shown(false));
  mesh.serve(contracts.listForProxy, () => shown(false));
  mesh.serve(contracts.listPublic, () => shown(true));
}
