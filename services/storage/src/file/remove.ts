import type { Handler } from "@svc/mesh";
import type { files } from "@svc/proto";
import { auditFile } from "./audit.ts";
import type { TransferDeps } from "./deps.ts";
import { readTarget } from "./path.ts";
import { runOnWorld } from "./run.ts";

/** storage.file.remove */
export const remove =
  (deps: TransferDeps): Handler<typeof files.remove> =>
  async (context, { name, path: given }) => {
    const path = readTarget(given);
    await runOnWorld(deps, { ...context, server: name, task: { mode: "delete", path } });
    auditFile(deps, context, { action: "file.delete", server: name, path });
    return { path, status: "deleted" as const };
  };
