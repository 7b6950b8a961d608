import { isKubeError, resources } from "@svc/kube";
import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { InputOf } from "@svc/proto";
import { stoppedByPerson } from "../cluster/kept-awake.ts";
import { servers as resource, type Server } from "../cluster/resource.ts";

import type { ServerRow } from "../database/server-row.ts";
import { isSystem } from "../server/server-ownership.ts";
import { callerOf } from "./caller.ts";
import { assertRetirable, type contracts, findRow, type OwnershipDeps } from "./deps.ts";
import { refusalOfRetiring, retireStateOf } from "./retire-policy.ts";

type Contract = typeof contracts.retire;

export const retire =
  (deps: OwnershipDeps): Handler<Contract> =>
  async (context, input) => {
    const { name } = input;
    assertRetirable(name);
    const server = await deps.kube.find(resource, { name, namespace: deps.namespace });
    checkCaller(context, input, await findRow(deps, name));
    await checkObject(deps, context, { name, server });
    const retiring = await deps.ownership.retire(name, {
      decide: (row) => {
        checkCaller(context, input, row);
        return retireStateOf(row.retiring, input.delete === true, new Date());
      },
      auditOf: (state) => {
        const action = state.delete ? "server.delete" : "server.release";
        return { ...auditActor(context), action, server_name: name };
      },
    });
    if (!retiring) throw context.fault("not_found");
    if (server) await stop(deps, server);
    return { name, retiring };
  };

function checkCaller(context: Context<Contract>, input: InputOf<Contract>, row: ServerRow): void {
  const asked = { name: input.name, confirm: input.confirm, isDeletion: input.delete === true };
  const refusal = refusalOfRetiring(row, callerOf(context), asked);
  if (!refusal) return;
  throw context.fault(refusal.fault, refusal.message === undefined ? {} : { message: refusal.message });
}

async function checkObject(
  { kube, namespace }: OwnershipDeps,
  context: Context<Contract>,
  { name, server }: { name: string; server: Server | undefined },
): Promise<void> {
  // A server that the reaper ignores could never be given up (docs/reference/server-states.md#view).
  if (isSystem(name, server) || server?.spec.reaperExempt) throw context.fault("system_server");
  if (server) return;
  // Without its object the volume cannot be known to be the server's world.
  const volume = await kube.find(resources.claims, { name: `world-${name}-0`, namespace });
  if (volume) throw context.fault("world_volume_orphaned");
}

// After the row: a wake in between sees it, or is taken back by the replica that made it (server/start.ts).
async function stop({ kube, servers, namespace }: OwnershipDeps, server: Server): Promise<void> {
  const target = { name: server.metadata.name, namespace };
  const merge = { spec: stoppedByPerson };
  const stopped = await kube.patch(resource, target, { merge }).catch((error: unknown) => {
    // A deleted server does not run.
    if (isKubeError(error, 404)) return undefined;
    throw error;
  });
  if (stopped) servers.remember(stopped);
}
