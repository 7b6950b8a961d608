// Tags of a server, which its object carries (docs/reference/server-resource.md#tags).

import { auditActor, type Handler } from "@svc/mesh";
import { tags as contracts } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import { assertKept } from "../cluster/definition.ts";
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
    assertKept((after.spec.tags ?? []).length === tags.length, "tags");
    return { name, tags };
  };
