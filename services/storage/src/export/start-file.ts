import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { exports } from "@svc/proto";
import { auditFile } from "../file/audit.ts";
import { assertTransfersEnabled, lockWorld } from "../file/open-world.ts";
import { readTarget } from "../file/path.ts";
import type { ExportDeps } from "./deps.ts";
import { fileFilename } from "./filename.ts";
import { startExport } from "./start.ts";

/** storage.export.start-file */
export const startFile =
  (deps: ExportDeps): Handler<typeof exports.startFile> =>
  async (context, { name: server, path: given, dir }) => {
    const { principal } = context;
    const path = readTarget(given);
    const visit = { principal, server, to: exports.startFile, reads: [path] };
    const kind = dir === "true" ? "folder" : "file";
    assertTransfersEnabled(deps);
    const { lock, world } = await lockWorld(deps, visit, "export");
    try {
      if (principal.kind !== "account") throw context.fault("forbidden");
      const ticket = await startExport(deps, {
        kind,
        path,
        filename: fileFilename(path, kind === "folder"),
        content_type: kind === "folder" ? "application/zip" : "application/octet-stream",
        user_id: principal.user_id,
        is_staff: principal.staff,
        world,
        what: { kind, path },
        startedBy: auditActor(context).actor,
        assertHeld: lock.assertHeld,
      });
      auditFile(deps, context, { action: "file.download", server, path });
      return ticket;
    } finally {
      await lock.release();
    }
  };
