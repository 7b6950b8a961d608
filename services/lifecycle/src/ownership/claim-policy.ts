// Whether an account may take a server (interface.md 4.4, behaviour.md c Claim). Pure.

import type { Costs, ServerRow } from "../server/store.ts";
import { exceeded, type Limits, type Usage } from "./quota.ts";

export type ClaimRefusal = {
  fault: "already_claimed" | "server_retiring" | "world_reclaiming" | "forbidden" | "quota_exceeded";
  message?: string;
};

/** What the row alone refuses. */
export function refusalOfRow(row: ServerRow): ClaimRefusal | undefined {
  if (row.ownerId !== undefined) return { fault: "already_claimed" };
  return row.retiring ? { fault: "server_retiring" } : undefined;
}

/** What is in the way of a claim, in the order in which it is told. */
export function refusalOfClaim(about: {
  row: ServerRow;
  /** Who holds the world by its lock, such as `reap`. */
  holder: string | undefined;
  /** False for a disabled or deleted account. */
  isActive: boolean;
  limits: Limits;
  used: Usage;
  costs: Costs;
}): ClaimRefusal | undefined {
  const refusal = refusalOfRow(about.row);
  if (refusal) return refusal;
  // The world is on its way into the archive; whoever claimed now would find an empty one.
  if (about.holder === "reap") return { fault: "world_reclaiming" };
  if (!about.isActive) {
    return { fault: "forbidden", message: "This account is disabled or deleted; it can own nothing new." };
  }
  const message = exceeded(about.limits, about.used, { ...about.costs, servers: 1 });
  return message === undefined ? undefined : { fault: "quota_exceeded", message };
}
