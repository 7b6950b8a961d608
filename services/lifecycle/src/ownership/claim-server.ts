// The part of a claim that both faces share: one transaction that asks for the limits of the account and the costs of
// the server while nobody else can claim for this account or take this server (behaviour.md c Claim).

import { type FaultOptions, isUserName, quotas } from "@svc/proto";
import { lockHolderOf } from "@svc/world-lock";
import { servers as resource, type Server } from "../cluster/resource.ts";
import type { Usage } from "../database/account-usage.ts";
import type { Audit } from "../database/audit.ts";
import type { Costs, ServerRow } from "../database/server-row.ts";
import { costsOf } from "../server/input.ts";
import { type ClaimRefusal, refusalOfClaim, refusalOfRow, refusalOfStranger } from "./claim-policy.ts";
import { findRow, isSystem, type OwnershipDeps } from "./deps.ts";

export type ClaimRequest = {
  name: string;
  accountId: string;
  isStaff: boolean;
  audit: Audit;
  refuse: (fault: ClaimRefusal["fault"] | "bad_name" | "not_found", options?: FaultOptions) => Error;
  /** The request that is served, for calls on its behalf. */
  context: Parameters<OwnershipDeps["mesh"]["call"]>[2];
};

// Connections are held while these are asked for, so nobody waits long.
const askMs = 3_000;

/** Checks what can be refused before anybody is asked who claims. */
export async function assertClaimable(
  deps: OwnershipDeps,
  { name, refuse }: Pick<ClaimRequest, "name" | "refuse">,
): Promise<void> {
  if (!isUserName(name)) throw refuse("bad_name");
  const refusal = refusalOfRow(await findRow(deps, name));
  if (refusal) throw refuse(refusal.fault);
}

/** Makes the account the owner; throws what is in the way. */
export async function claimServer(deps: OwnershipDeps, request: ClaimRequest): Promise<void> {
  const { name, accountId, audit, refuse } = request;
  const isThere = await deps.limitClaims(() => {
    // Whoever waited too long was told that it failed; it must not come about behind their back.
    request.context?.signal?.throwIfAborted();
    return deps.ownership.claim({ name, accountId, audit }, (row, used) =>
      judge(deps, request, { row, used }),
    );
  });
  if (!isThere) throw refuse("not_found");
}

// Asked inside the transaction: an account that is being deleted loses its servers under the same lock, so that no
// claim can slip in after that; and what the object costs is read after every change that was noted down.
async function judge(
  deps: OwnershipDeps,
  { name, accountId, isStaff, refuse, context }: ClaimRequest,
  { row, used }: { row: ServerRow; used: Usage },
): Promise<Costs> {
  // Of many claims at once all but one end here, without asking anybody.
  const early = refusalOfRow(row) ?? refusalOfStranger(row, isStaff);
  if (early) throw refuse(early.fault, early.message === undefined ? {} : { message: early.message });
  const deadlineAt = Date.now() + askMs;
  const [server, { limits, active }] = await Promise.all([
    deps.kube.find(resource, { name, namespace: deps.namespace }, { timeoutMs: askMs }),
    deps.mesh.call(quotas.readLimits, { user_id: accountId }, { ...context, deadlineAt }),
  ]);
  const found = claimable(server, name);
  if (!found) throw refuse("not_found");
  if (isSystem(name, found)) throw refuse("bad_name", { message: "System servers have no owner." });
  const holder = lockHolderOf(found, { now: Date.now(), ttlMs: deps.settings.maintenance_lock })?.kind;
  const costs = costsOf(found.spec);
  const refusal = refusalOfClaim({ row, isStaff, holder, isActive: active, limits, used, costs });
  if (refusal) throw refuse(refusal.fault, refusal.message === undefined ? {} : { message: refusal.message });
  return costs;
}

function claimable(server: Server | undefined, name: string): Server | undefined {
  return server?.metadata.name === name && server.metadata.deletionTimestamp === undefined
    ? server
    : undefined;
}
