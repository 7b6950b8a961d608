// What a run asks of one server (docs/reference/groups.md#run): the same as a person who starts or stops it, with a mark of
// the run in the same write, so that whoever goes on with the run knows that it was asked.

import { isKubeError } from "@svc/kube";
import { Fault, isFault } from "@svc/proto";
import { stoppedByPerson } from "../cluster/kept-awake.ts";
import {
  annotation,
  namespaceOf,
  servers as resource,
  type Server,
  wantsToRun,
} from "../cluster/resource.ts";
import type { Audit } from "../database/audit.ts";
import type { ServerRow } from "../database/server-row.ts";
import { changeAudited } from "../server/audited-change.ts";
import type { ServerDeps } from "../server/deps.ts";
import { startServer } from "../server/start.ts";
import type { Answer } from "./decide.ts";
import type { FoundRun } from "./store.ts";

type Asked = { server: Server; row: ServerRow };

export async function askServer(deps: ServerDeps, found: FoundRun, asked: Asked): Promise<Answer> {
  try {
    await (found.row.direction === "start" ? start : stop)(deps, found, asked);
    return { kind: "asked" };
  } catch (error) {
    if (isFault(error)) return { kind: "refused", fault: error.fault };
    // Somebody changed it just now, or the cluster is away: it is asked again.
    if (isKubeError(error)) return { kind: "refused", fault: "unavailable" };
    throw error;
  }
}

async function start(deps: ServerDeps, found: FoundRun, { server, row }: Asked): Promise<void> {
  const refuse = (...about: ConstructorParameters<typeof Fault>) => new Fault(...about);
  await startServer(deps, {
    ...{ server, row, mayRetry: true, refuse },
    annotations: { [annotation.groupRun]: found.row.id },
    auditOf: (change) => auditOf(found, server, change === "retried" ? "retry_start" : "server.wake"),
  });
}

async function stop(deps: ServerDeps, found: FoundRun, { server }: Asked): Promise<void> {
  // It is on its way already.
  if (!wantsToRun(server)) return;
  const { name, resourceVersion } = server.metadata;
  const metadata = { resourceVersion, annotations: { [annotation.groupRun]: found.row.id } };
  const merge = { metadata, spec: stoppedByPerson };
  const patch = () => deps.kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge });
  deps.servers.remember(await changeAudited(deps.store.audits, auditOf(found, server, "server.stop"), patch));
}

function auditOf({ accountId, groupName, row }: FoundRun, { metadata }: Server, action: string): Audit {
  const by = { actor: row.started_by, actor_user_id: accountId, source: "external" };
  const payload = { server_group: groupName };
  return { ...by, request_id: row.request_id, action, server_name: metadata.name, payload };
}
