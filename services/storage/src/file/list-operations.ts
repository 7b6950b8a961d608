import type { Handler } from "@svc/mesh";
import type { files } from "@svc/proto";
import type { TransferDeps } from "./deps.ts";
import { listOps } from "./op.ts";
import { openWorld } from "./world.ts";

/** storage.file.list-operations */
export const listOperations =
  (deps: TransferDeps): Handler<typeof files.listOperations> =>
  async (context, { name }) => {
    await openWorld(deps, { ...context, server: name });
    return { ops: await listOps(deps, name) };
  };
