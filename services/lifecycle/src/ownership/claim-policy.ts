// Whether an account may take a server (docs/reference/claims.md#claim). Pure.

import type { Usage } from "../database/account-usage.ts";
import type { Costs, ServerRow } from "../database/server-row.ts";
import { type Limits, type OwnerRefusal, refusalOfOwner } from "../server/quota.ts";

export type ClaimRefusal = {
  fault: OwnerRefusal["fault"] | "already_claimed" | "server_retiring" | "world_reclaiming";
  message?: string;
};

/** Why the row alone refuses a claim. */
export function refusalOfRow(row: ServerRow): ClaimRefusal | undefined {
  if (row.ownerId !== undefined) return { fault: "already_claimed" };
  return row.retiring ? { fault: "server_retiring" } : undefined;
}

/** A server that is not offered can be claimed by operators only. */
export function refusalOfUnoffered(row: ServerRow, isStaff: boolean): ClaimRefusal | undefined {
  if (row.offered || isStaff) return undefined;
  return { fault: "forbidden", message: "This server cannot be claimed; ask an operator for it." };
}

/** Why a claim is refused; the first reason wins. */
export function refusalOfClaim(about: {
  row: ServerRow;
  /** Whether the account is an operator. */
  isStaff: boolean;
  /** Kind of the lock on the world, such as `reap`. */
  holder: string | undefined;
  /** False for a disabled or deleted account. */
  isActive: boolean;
  limits: Limits;
  used: Usage;
  costs: Costs;
}): ClaimRefusal | undefined {
  const refusal = refusalOfRow(about.row) ?? refusalOfUnoffered(about.row, about.isStaff);
  if (refusal) return refusal;
  // The world is being archived; claiming now would leave an empty one.
  if (about.holder === "reap") return { fault: "world_reclaiming" };
  return refusalOfOwner(about);
}
