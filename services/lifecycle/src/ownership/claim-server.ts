// The part of a claim that both faces share: one transaction that reads the limits of the account and the costs of the
// server while nobody else can claim for this account or claim this server (docs/reference/claims.md#claim).

import { type FaultOptions, isUserName, quotas } from "@svc/proto";
import { lockHolderOf } from "@svc/world-lock";
import { servers as resource, type Server } from "../cluster/resource.ts";
import type { Usage } from "../database/account-usage.ts";
import type { Audit } from "../database/audit.ts";
import type { Costs, ServerRow } from "../database/server-row.ts";
import { costsOf } from "../server/input.ts";
import { isSystem } from "../server/server-ownership.ts";
import { type ClaimRefusal, refusalOfClaim, refusalOfRow, refusalOfUnoffered } from "./claim-policy.ts";
import { findRow, type OwnershipDeps } from "./deps.ts";

type ClaimRequest = {
  name: string;
  accountId: string;
  isStaff: boolean;
  audit: Audit;
  refuse: (fault: ClaimRefusal["fault"] | "bad_name" | "not_found", options?: FaultOptions) => Error;
  /** The request being served, for calls on its behalf. */
  context: Parameters<OwnershipDeps["mesh"]["call"]>[2];
};

// A database connection is held during these calls.
const callTimeoutMs = 3_000;

/** Checks what can be refused before the claiming account is looked up. */
export async function assertClaimable(
  deps: OwnershipDeps,
  { name, refuse }: Pick<ClaimRequest, "name" | "refuse">,
): Promise<void> {
  if (!isUserName(name)) throw refuse("bad_name");
  const refusal = refusalOfRow(await findRow(deps, name));
  if (refusal) throw refuse(refusal.fault);
}

/** Makes the account the owner; throws the reason when it is refused. */
export async function claimServer(deps: OwnershipDeps, request: ClaimRequest): Promise<void> {
  const { name, accountId, audit, refuse } = request;
  const isFound = await deps.limitClaims(() => {
    // A caller who waited too long was told that the claim failed; it must not succeed afterwards.
    request.context?.signal?.throwIfAborted();
    return deps.ownership.claim({ name, accountId, audit }, (row, used) =>
      checkClaim(deps, request, { row, used }),
    );
  });
  if (!isFound) throw refuse("not_found");
}

// Runs inside the transaction: an account that is being deleted loses its servers under the same lock, so no claim can
// follow; and the costs of the object are read after every recorded change.
async function checkClaim(
  deps: OwnershipDeps,
  { name, accountId, isStaff, refuse, context }: ClaimRequest,
  { row, used }: { row: ServerRow; used: Usage },
): Promise<Costs> {
  // Of many concurrent claims all but one end here, without further calls.
  const early = refusalOfRow(row) ?? refusalOfUnoffered(row, isStaff);
  if (early) throw refuse(early.fault, early.message === undefined ? {} : { message: early.message });
  const deadlineAt = Date.now() + callTimeoutMs;
  const [server, { limits, active }] = await Promise.all([
    deps.kube.find(resource, { name, namespace: deps.namespace }, { timeoutMs: callTimeoutMs }),
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
