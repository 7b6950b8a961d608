// Binds servers without a world to another node (docs/reference/moves.md#unstarted).

import { isKubeError, resources } from "@svc/kube";
import { auditActor, type Handler } from "@svc/mesh";
import { type nodes as contracts, Fault } from "@svc/proto";
import { findHolder } from "@svc/world-lock";
import { nameOf } from "../cluster/node.ts";
import { servers as resource, type Server, worldClaimName } from "../cluster/resource.ts";
import { changeAudited } from "../server/audited-change.ts";
import { assertListed, type ServerDeps } from "../server/deps.ts";
import { roomOf } from "./room.ts";
import { type Found, planUnstarted } from "./unstarted.ts";

/** Servers that are read at once. */
const batch = 20;

type Contract = typeof contracts.placeUnstarted;

export const placeUnstarted =
  (deps: ServerDeps): Handler<Contract> =>
  async (context, { name: from, to, dry_run }) => {
    if (!deps.nodes.isReady()) throw new Fault("unavailable");
    assertListed(deps);
    const nodes = deps.nodes.list();
    if (!nodes.some((one) => nameOf(one) === from))
      throw new Fault("not_found", { message: `There is no node ${from}.` });
    const here = deps.servers.list().filter(({ spec }) => spec.nodeName === from);
    const found: Found[] = [];
    for (let n = 0; n < here.length; n += batch)
      found.push(...(await Promise.all(here.slice(n, n + batch).map((one) => find(deps, one)))).flat());
    const rooms = roomOf(nodes, deps.servers.list()).nodes;
    const plan = planUnstarted(
      found.filter(({ server }) => server.spec.nodeName === from),
      rooms,
      { from, to },
    );
    const placed: { name: string; to: string }[] = [];
    const stay = [...plan.stay];
    for (const one of plan.placed) {
      const { name } = one.server.metadata;
      if (dry_run || (await bind(deps, one, auditActor(context)))) placed.push({ name, to: one.to });
      else stay.push({ name, reason: "changed" });
    }
    return { placed, stay };
  };

/** From the cluster itself, the server first: whatever starts or holds it afterwards changes its version. */
async function find({ kube, namespace, settings }: ServerDeps, { metadata }: Server): Promise<Found[]> {
  const { name } = metadata;
  const server = await kube.find(resource, { name, namespace });
  if (!server || server.metadata.deletionTimestamp !== undefined) return [];
  const [claim, pod, holder] = await Promise.all([
    kube.find(resources.claims, { name: worldClaimName(server), namespace }),
    kube.find(resources.pods, { name: `${name}-0`, namespace }),
    findHolder(kube, server, { now: Date.now(), ttlMs: settings.maintenance_lock }),
  ]);
  return [{ server, claim, hasPod: pod !== undefined, isHeld: holder !== undefined }];
}

/** False when somebody changed the server meanwhile. */
async function bind(
  { kube, namespace, servers, store }: ServerDeps,
  { server, to }: { server: Server; to: string },
  actor: ReturnType<typeof auditActor>,
): Promise<boolean> {
  const { name, resourceVersion } = server.metadata;
  const merge = { metadata: { resourceVersion }, spec: { nodeName: to } };
  const payload = { from: server.spec.nodeName, to };
  const audit = { ...actor, action: "server.place", server_name: name, payload };
  try {
    const patch = () => kube.patch(resource, { name, namespace }, { merge });
    servers.remember(await changeAudited(store.audits, audit, patch));
    return true;
  } catch (error) {
    if (isKubeError(error, 409) || isKubeError(error, 404)) return false;
    throw error;
  }
}
