import type { Handler } from "@svc/mesh";
import { type contracts, findFresh, type WorldDeps } from "./deps.ts";
import { toWorldServer } from "./world-server.ts";

export const describeServer =
  (deps: WorldDeps): Handler<typeof contracts.describeServer> =>
  async (context, { name }) => {
    const found = await findFresh(deps, name);
    if (!found) throw context.fault("not_found", { message: `There is no server ${name}.` });
    return toWorldServer(name, found);
  };
