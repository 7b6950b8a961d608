// Callers read what they have just written: for a moment after a change, their reads go past the mirrors to the owner, or
// wait until a mirror has caught up with it (docs/reference/http.md#views).

import type { Operation, Owner, Principal } from "@svc/proto";
import type { Binding } from "./call.ts";

/** Longer than a change needs into a view; when it takes longer still, the view is stale before long. */
const lastingMs = 2_000;
const mostCallers = 10_000;

export type RecentChanges = {
  /** Whether the caller has just changed something, or something of these owners. */
  has: (principal: Principal, owners?: readonly Owner[]) => boolean;
  /** Notes the changes that a binding has made. */
  noting: (contract: Operation, binding: Binding) => Binding;
};

export function createRecentChanges(now: () => number = () => performance.now()): RecentChanges {
  const changed = new Map<string, Map<Owner, number>>();
  const note = ({ user_id }: { user_id: string }, owner: Owner) => {
    const byOwner = (changed.get(user_id) ?? new Map<Owner, number>()).set(owner, now());
    changed.delete(user_id);
    changed.set(user_id, byOwner);
    const [oldest] = changed.keys();
    if (changed.size > mostCallers && oldest !== undefined) changed.delete(oldest);
  };
  return {
    has: (principal, owners) => {
      if (principal.kind !== "account") return false;
      const byOwner = changed.get(principal.user_id);
      if (!byOwner) return false;
      for (const [owner, at] of byOwner) if (now() - at >= lastingMs) byOwner.delete(owner);
      if (byOwner.size === 0) changed.delete(principal.user_id);
      return owners ? owners.some((owner) => byOwner.has(owner)) : byOwner.size > 0;
    },
    noting: ({ http, owner }, binding) => {
      if (http.method === "GET") return binding;
      return async (call) => {
        // A change that failed or whose answer was lost may have been made all the same.
        try {
          await binding(call);
        } finally {
          if (call.principal.kind === "account") note(call.principal, owner);
        }
      };
    },
  };
}
