// Tags of a server, which its object carries (docs/reference/server-resource.md#tags).

import { auditActor, type Handler } from "@svc/mesh";
import { tags as contracts, Fault } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import { namespaceOf, servers as resource } from "../cluster/resource.ts";
import { changeAudited } from "./audited-change.ts";
import { findByUserName, type ServerDeps } from "./deps.ts";
import { readTags } from "./tag-names.ts";

export const writeTags =
  (deps: ServerDeps): Handler<typeof contracts.write> =>
  async (context, { name, tags: given }) => {
    const server = await findByUserName(deps, name);
    assertAccess(context, { name, row: await deps.store.find(name), to: contracts.write });
    const read = readTags(given);
    if (read.kind === "refused") throw context.fault("bad_tags", { message: read.message });
    const { tags } = read;
    const audit = {
      ...auditActor(context),
      action: "server.tags",
      server_name: name,
      payload: { tags: tags.map((tag) => tag.name) },
    };
    const target = { name, namespace: namespaceOf(server) };
    // Null removes it, as in a merge patch.
    const merge = { spec: { tags: tags.length > 0 ? tags : null } };
    const after = await changeAudited(deps.store.audits, audit, () =>
      deps.kube.patch(resource, target, { merge }),
    );
    deps.servers.remember(after);
    // A cluster with an older definition of servers drops fields that it does not know.
    if ((after.spec.tags ?? []).length !== tags.length)
      throw new Fault("unavailable", {
        message: "The cluster does not know tags yet; an operator has to install the new definition.",
      });
    return { name, tags };
  };
