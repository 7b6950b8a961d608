import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { exports } from "@svc/proto";
import { auditFile } from "../file/audit.ts";
import { lockWorld } from "../file/open-world.ts";
import type { ExportDeps } from "./deps.ts";
import { archiveType, worldFilename } from "./filename.ts";
import { assertExports, startExport } from "./start.ts";

/** storage.export.start-world: the Job locks the world from its creation to its end. */
export const startWorld =
  (deps: ExportDeps): Handler<typeof exports.startWorld> =>
  async (context, { name: server }) => {
    const { principal } = context;
    assertExports(deps);
    const { lock, world } = await lockWorld(deps, { principal, server, to: exports.startWorld }, "export");
    try {
      if (principal.kind !== "account") throw context.fault("forbidden");
      const { type, ending } = archiveType(".gz");
      const ticket = await startExport(deps, {
        kind: "world",
        filename: worldFilename(server, new Date(deps.now()), ending),
        content_type: type,
        user_id: principal.user_id,
        is_staff: principal.staff,
        world,
        what: { kind: "world" },
        startedBy: auditActor(context).actor,
        assertHeld: lock.assertHeld,
      });
      auditFile(deps, context, { action: "world.export", server });
      return ticket;
    } finally {
      await lock.release();
    }
  };
