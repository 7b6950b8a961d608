// Whether an account may take a server (interface.md 4.4, behaviour.md c Claim). Pure.

import type { Usage } from "../database/account-usage.ts";
import type { Costs, ServerRow } from "../database/server-row.ts";
import { type Limits, type OwnerRefusal, refusalOfOwner } from "../server/quota.ts";

export type ClaimRefusal = {
  fault: OwnerRefusal["fault"] | "already_claimed" | "server_retiring" | "world_reclaiming";
  message?: string;
};

/** What the row alone refuses. */
export function refusalOfRow(row: ServerRow): ClaimRefusal | undefined {
  if (row.ownerId !== undefined) return { fault: "already_claimed" };
  return row.retiring ? { fault: "server_retiring" } : undefined;
}

/** What an operator made for somebody is not a stranger's to take. */
export function refusalOfStranger(row: ServerRow, isStaff: boolean): ClaimRefusal | undefined {
  if (row.offered || isStaff) return undefined;
  return { fault: "forbidden", message: "This server is not offered; ask an operator for it." };
}

/** What is in the way of a claim, in the order in which it is told. */
export function refusalOfClaim(about: {
  row: ServerRow;
  /** Whether the account is an operator's. */
  isStaff: boolean;
  /** Who holds the world by its lock, such as `reap`. */
  holder: string | undefined;
  /** False for a disabled or deleted account. */
  isActive: boolean;
  limits: Limits;
  used: Usage;
  costs: Costs;
}): ClaimRefusal | undefined {
  const refusal = refusalOfRow(about.row) ?? refusalOfStranger(about.row, about.isStaff);
  if (refusal) return refusal;
  // The world is on its way into the archive; whoever claimed now would find an empty one.
  if (about.holder === "reap") return { fault: "world_reclaiming" };
  return refusalOfOwner(about);
}
