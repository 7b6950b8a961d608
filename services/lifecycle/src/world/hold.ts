import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { servers as resource, wantsToRun } from "../cluster/resource.ts";

import { changeAudited } from "../server/audited-change.ts";
import { type contracts, findFresh, type WorldDeps } from "./deps.ts";
import { isAtRest } from "./world-server.ts";

export const holdWorld =
  (deps: WorldDeps): Handler<typeof contracts.holdWorld> =>
  async (context, { name }) => {
    const found = await findFresh(deps, name);
    if (!found) throw context.fault("not_found", { message: `There is no server ${name}.` });
    const { server, hasPod } = found;
    if (!server || !wantsToRun(server)) return { stopped: isAtRest(server, hasPod) };
    const target = { name, namespace: deps.namespace };
    const merge = { spec: { desiredState: "Stopped" } };
    const audit = { ...auditActor(context), action: "server.stop", server_name: name };
    const patch = () => deps.kube.patch(resource, target, { merge });
    deps.servers.remember(await changeAudited(deps.store.audits, audit, patch));
    return { stopped: false };
  };
