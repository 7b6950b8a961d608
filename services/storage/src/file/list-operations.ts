import type { Handler } from "@svc/mesh";
import type { files } from "@svc/proto";
import { isStaff } from "../access.ts";
import type { FileDeps } from "./deps.ts";
import { listOps, type OpDeps } from "./op.ts";
import { openWorld } from "./open-world.ts";

/** storage.file.list-operations */
export const listOperations =
  (deps: OpDeps & Pick<FileDeps, "mesh">): Handler<typeof files.listOperations> =>
  async (context, { name }) => {
    const { claimed_at } = await openWorld(deps, { ...context, server: name });
    // The next owner must not see what a former one did.
    const since = isStaff(context.principal) ? undefined : claimed_at;
    return { ops: await listOps(deps, name, since) };
  };
