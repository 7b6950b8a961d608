// Callers read what they have just written: for a moment after a change, their reads go past the mirrors to the owner
// (docs/reference/http.md#views).

import type { Operation, Principal } from "@svc/proto";
import type { Binding } from "./call.ts";

/** Longer than a change needs into a view; when it takes longer still, the view is stale before long. */
const lastingMs = 2_000;
const mostCallers = 10_000;

type RecentChanges = {
  has: (principal: Principal) => boolean;
  /** Notes the changes that a binding has made. */
  noting: (contract: Operation, binding: Binding) => Binding;
};

export function createRecentChanges(now: () => number = () => performance.now()): RecentChanges {
  const changedAt = new Map<string, number>();
  const note = ({ user_id }: { user_id: string }) => {
    changedAt.delete(user_id);
    changedAt.set(user_id, now());
    const [oldest] = changedAt.keys();
    if (changedAt.size > mostCallers && oldest !== undefined) changedAt.delete(oldest);
  };
  return {
    has: (principal) => {
      if (principal.kind !== "account") return false;
      const at = changedAt.get(principal.user_id);
      if (at === undefined) return false;
      if (now() - at < lastingMs) return true;
      changedAt.delete(principal.user_id);
      return false;
    },
    noting: ({ http }, binding) => {
      if (http.method === "GET") return binding;
      return async (call) => {
        // A change that failed or whose answer was lost may have been made all the same.
        try {
          await binding(call);
        } finally {
          if (call.principal.kind === "account") note(call.principal);
        }
      };
    },
  };
}
