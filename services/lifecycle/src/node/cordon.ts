// Keeping servers off a node (docs/reference/moves.md#cordon).

import { resources } from "@svc/kube";
import { auditActor, type Handler } from "@svc/mesh";
import { type nodes as contracts, Fault } from "@svc/proto";
import { isCordoned, nameOf } from "../cluster/node.ts";
import { changeAudited } from "../server/audited-change.ts";
import type { ServerDeps } from "../server/deps.ts";
import { toExecutionNode } from "./view.ts";

export const setCordon =
  (deps: ServerDeps, unschedulable: boolean): Handler<typeof contracts.cordon> =>
  async (context, { name }) => {
    if (!deps.nodes.isReady()) throw new Fault("unavailable");
    const node = deps.nodes.list().find((one) => nameOf(one) === name);
    if (!node) throw new Fault("not_found", { message: `There is no node ${name}.` });
    const patch = () =>
      deps.kube.patch(resources.nodes, { name: node.metadata.name }, { merge: { spec: { unschedulable } } });
    if (isCordoned(node) === unschedulable) {
      await deps.store.claimRequest();
      return toExecutionNode(node);
    }
    const action = unschedulable ? "node.cordon" : "node.uncordon";
    const audit = { ...auditActor(context), action, payload: { node: name } };
    const changed = await changeAudited(deps.store.audits, audit, patch);
    deps.nodes.remember(changed);
    return toExecutionNode(changed);
  };
