import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { lockHolderOf } from "@svc/world-lock";
import { servers as resource } from "../cluster/resource.ts";

import type { ServerRow } from "../database/server-row.ts";
import { callerOf } from "./caller.ts";
import { assertRetirable, type contracts, findRow, type OwnershipDeps } from "./deps.ts";
import { refusalOfCancelling } from "./retire-policy.ts";

type Contract = typeof contracts.cancelRetirement;

export const cancelRetirement =
  (deps: OwnershipDeps): Handler<Contract> =>
  async (context, { name }) => {
    assertRetirable(name);
    const row = await findRow(deps, name);
    checkCaller(context, row);
    if (row.retiring) await checkReaper(deps, context, name);
    const audit = { ...auditActor(context), action: "server.retire_cancel", server_name: name };
    await deps.ownership.cancelRetirement(name, { check: (now) => checkCaller(context, now), audit });
    return null;
  };

function checkCaller(context: Context<Contract>, row: ServerRow): void {
  const refusal = refusalOfCancelling(row, callerOf(context));
  if (refusal)
    throw context.fault("forbidden", refusal.message === undefined ? {} : { message: refusal.message });
}

// The world may already be in the archive; cancelling now would leave an empty server.
async function checkReaper(deps: OwnershipDeps, context: Context<Contract>, name: string): Promise<void> {
  const server = await deps.kube.find(resource, { name, namespace: deps.namespace });
  const clock = { now: Date.now(), ttlMs: deps.settings.maintenance_lock };
  if (server && lockHolderOf(server, clock)?.kind === "reap") throw context.fault("world_reclaiming");
}
