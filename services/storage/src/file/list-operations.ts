import type { Handler } from "@svc/mesh";
import { files } from "@svc/proto";
import { isStaff, mayAccess } from "../access.ts";
import type { FileDeps } from "./deps.ts";
import { listOps, type OpDeps } from "./op.ts";
import { openWorld } from "./open-world.ts";

/** storage.file.list-operations */
export const listOperations =
  (deps: OpDeps & Pick<FileDeps, "mesh">): Handler<typeof files.listOperations> =>
  async (context, { name }) => {
    const { principal } = context;
    const to = files.listOperations;
    const world = await openWorld(deps, { principal, server: name, to, reads: [] });
    const { claimed_at } = world;
    // The next owner must not see what a former one did.
    const since = isStaff(principal) ? undefined : claimed_at;
    const ops = await listOps(deps, name, since);
    return { ops: ops.filter(({ path }) => mayAccess(principal, world, { to, reads: [path] })) };
  };
