import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { files } from "@svc/proto";
import type { FileDeps } from "./deps.ts";
import { admitOp, launch, recordFailedStart } from "./launch.ts";
import { newOp, opKey, toFileOp } from "./op.ts";
import { lockWorld } from "./open-world.ts";
import { folderOf, readZip } from "./path.ts";

/** storage.file.unzip */
export const unzip =
  (deps: FileDeps): Handler<typeof files.unzip> =>
  async (context, { name: server, path: given, overwrite = false, skip_protected = false }) => {
    const path = readZip(given);
    // What comes out lies beside it.
    const folder = folderOf(path);
    const paths = { writes: [path, folder], moves: { from: path, to: folder } };
    const { lock, world } = await lockWorld(
      deps,
      { ...context, server, to: files.unzip, ...paths },
      "file-write",
    );
    try {
      const op = newOp(deps, { op: "unzip", path, server, started_by: auditActor(context).actor });
      const change = { action: "file.unzip", path, payload: { overwrite, skip_protected } };
      const revision = await admitOp(deps, context, { op, change });
      const task = { mode: "unzip", path, overwrite, skip_protected } as const;
      await launch(deps, { op, revision, lock, world }, { task }).catch(async (error: unknown) => {
        if (await recordFailedStart(deps, op, error))
          await deps.ops.delete(opKey(op), revision).catch(() => {});
        throw error;
      });
      return { op: toFileOp({ ...op, preparing_at: 0 }) };
    } finally {
      await lock.release();
    }
  };
