import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { backups } from "@svc/proto";
import { assertAnyName } from "../access.ts";
import type { StorageDeps } from "../deps.ts";
import { startBackup } from "./start.ts";

/** storage.backup.create-emergency: the caller on the host gives their own name. */
export const createEmergency =
  (deps: StorageDeps): Handler<typeof backups.createEmergency> =>
  async (context, { name, os_user }) => {
    assertAnyName(name);
    const about = { ...auditActor(context), actor: os_user?.trim() || "break-glass" };
    await startBackup(deps, {
      server: name,
      reason: "manual",
      startedBy: about.actor,
      limits: { cooldown: false, cap: false },
      check: () => {},
      audit: { ...about, action: "backup.create" },
    });
    return { name, status: "backing_up" };
  };
