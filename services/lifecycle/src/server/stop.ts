import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { namespaceOf, servers as resource, wantsToRun } from "../cluster/resource.ts";
import { changeAudited } from "./audited-change.ts";
import { type contracts, findByUserName, type ServerDeps } from "./deps.ts";

export const stop =
  (deps: ServerDeps): Handler<typeof contracts.stop> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    const { principal } = context;
    const row = await deps.store.find(name);
    const isOwner = principal.kind === "account" && row?.ownerId === principal.user_id;
    const isStaff = principal.kind === "account" && principal.staff;
    if (!isOwner && !isStaff) {
      throw context.fault("forbidden", { message: "Only the owner of a server may stop it." });
    }
    const target = { name, namespace: namespaceOf(server) };
    const merge = { spec: { desiredState: "Stopped" } };
    const audit = { ...auditActor(context), action: "server.stop", server_name: name };
    const patch = () => deps.kube.patch(resource, target, { merge });
    if (wantsToRun(server)) deps.servers.remember(await changeAudited(deps.store.audits, audit, patch));
    else {
      await deps.store.claimRequest();
      deps.servers.remember(await patch());
    }
    return { name, desiredState: "Stopped" };
  };
