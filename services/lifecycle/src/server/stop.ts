import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { assertAccess } from "../access/assert.ts";
import { stoppedByPerson } from "../cluster/kept-awake.ts";
import { namespaceOf, servers as resource, wantsToRun } from "../cluster/resource.ts";
import { changeAudited } from "./audited-change.ts";
import { contracts, findByUserName, type ServerDeps } from "./deps.ts";

export const stop =
  (deps: ServerDeps): Handler<typeof contracts.stop> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    assertAccess(context, { name, row: await deps.store.find(name), to: contracts.stop });
    const target = { name, namespace: namespaceOf(server) };
    const merge = { spec: stoppedByPerson };
    const audit = { ...auditActor(context), action: "server.stop", server_name: name };
    const patch = () => deps.kube.patch(resource, target, { merge });
    if (wantsToRun(server)) deps.servers.remember(await changeAudited(deps.store.audits, audit, patch));
    else {
      await deps.store.claimRequest();
      deps.servers.remember(await patch());
    }
    return { name, desiredState: "Stopped" };
  };
