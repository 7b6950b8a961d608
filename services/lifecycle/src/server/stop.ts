import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { namespaceOf, servers as resource } from "../cluster/resource.ts";
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
    await deps.store.claimRequest();
    const target = { name, namespace: namespaceOf(server) };
    const merge = { spec: { desiredState: "Stopped" } };
    deps.servers.remember(await deps.kube.patch(resource, target, { merge }));
    if (server.spec.desiredState === "Running") {
      deps.mesh.audit({ ...auditActor(context), action: "server.stop", server_name: name });
    }
    return { name, desiredState: "Stopped" };
  };
