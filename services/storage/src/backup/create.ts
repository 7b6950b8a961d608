import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { backups } from "@svc/proto";
import { assertMayAccess, assertUserName, isStaff } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { startBackup } from "./start.ts";

/** storage.backup.create */
export const create =
  (deps: StorageDeps): Handler<typeof backups.create> =>
  async (context, { name }) => {
    const { principal } = context;
    assertUserName(name);
    const about = auditActor(context);
    const isLimited = !isStaff(principal);
    await startBackup(deps, {
      server: name,
      reason: "manual",
      startedBy: about.actor,
      limits: { cooldown: isLimited, cap: isLimited },
      check: (world) => assertMayAccess(principal, world, { to: backups.create }),
      audit: { ...about, action: "backup.create" },
    });
    return { name, status: "backing_up" };
  };
