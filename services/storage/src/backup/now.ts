// `svc backup-now` (docs/reference/cli.md#ways): a plan for all servers, then one at a time.

import { resources } from "@svc/kube";
import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { type backupKeeping, type OutputOf, worlds } from "@svc/proto";
import { assertAnyName } from "../access.ts";
import { inNamespace, type StorageDeps } from "../deps.ts";
import { listWorlds, type WorldServer } from "../job/world.ts";
import { startBackup } from "./start.ts";

type Action = OutputOf<typeof backupKeeping.planBackups>["servers"][number]["action"];

/** What `svc backup-now` does with one server. Pure. */
export function actionFor(
  world: WorldServer | undefined,
  about: { hasVolume: boolean; mayStop: boolean },
): Action {
  if (!world?.exists) return "skip_unknown";
  if (!about.hasVolume) return "skip_no_volume";
  if (world.stopped) return "back_up";
  return about.mayStop ? "stop_then_back_up" : "skip_running";
}

const order: readonly Action[] = [
  "back_up",
  "stop_then_back_up",
  "skip_running",
  "skip_no_volume",
  "skip_unknown",
];

/** storage.backup.plan-now */
export const planNow =
  (deps: Pick<StorageDeps, "kube" | "mesh" | "settings">): Handler<typeof backupKeeping.planBackups> =>
  async (_context, { names, may_stop }) => {
    const [all, claims] = await Promise.all([
      listWorlds(deps),
      deps.kube.list(resources.claims, inNamespace(deps)),
    ]);
    const bound = new Set(
      claims.items.filter(({ status }) => status?.phase === "Bound").map(({ metadata }) => metadata.name),
    );
    const known = new Map(all.map((world) => [world.name, world]));
    const servers = (names ?? [...known.keys()]).map((name) => {
      const world = known.get(name);
      const hasVolume = world !== undefined && bound.has(world.volume_claim);
      return { name, action: actionFor(world, { hasVolume, mayStop: may_stop }) };
    });
    return { servers: servers.sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action)) };
  };

/** storage.backup.start-now */
export const startNow =
  (deps: StorageDeps): Handler<typeof backupKeeping.backUpNow> =>
  async (context, { name, may_stop, os_user }) => {
    assertAnyName(name);
    if (may_stop && !(await deps.mesh.call(worlds.holdWorld, { name })).stopped) return { state: "stopping" };
    const about = { ...auditActor(context), actor: os_user.trim() || "break-glass", source: "internal:ops" };
    const { job } = await startBackup(deps, {
      server: name,
      reason: "manual",
      startedBy: about.actor,
      limits: { cooldown: false, cap: false },
      check: () => {},
      audit: { ...about, action: "backup.create" },
    });
    return { state: "started", job };
  };

/** storage.backup.resume */
export const resume =
  ({ mesh }: Pick<StorageDeps, "mesh">): Handler<typeof backupKeeping.resumeAfterBackup> =>
  async (_context, { name }) =>
    mesh.call(worlds.resumeServer, { name });
