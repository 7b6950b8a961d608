import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";

import { startServer } from "../server/start.ts";
import { type contracts, findFresh, type WorldDeps } from "./deps.ts";

export const resumeServer =
  (deps: WorldDeps): Handler<typeof contracts.resumeServer> =>
  async (context, { name }) => {
    const { server, row } = (await findFresh(deps, name)) ?? {};
    if (!server) throw context.fault("not_found", { message: `There is no server ${name}.` });
    const refuse = context.fault as (fault: string) => Error;
    const audit = { ...auditActor(context), action: "server.wake", server_name: name };
    const how = { mayRetry: true, isScheduled: true, ignoresWindow: true, auditOf: () => audit };
    await startServer(deps, { server, row, ...how, refuse });
    return null;
  };
