import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { takeToken } from "./bucket.ts";

/** identity.sign-in-budget.take */
export function createTakeSignInBudget({
  db,
  limits,
  now,
}: Pick<Deps, "db" | "limits" | "now">): Handler<typeof accounts.takeSignInBudget> {
  return async (_context, { address }) => {
    const taken = await takeToken(db, {
      table: "sign_in_budgets",
      key: address,
      burst: limits.sign_in_burst,
      perSecond: limits.sign_in_per_minute / 60,
      now: now(),
    });
    if (taken.allowed) return { allowed: true, retry_after_seconds: 0 };
    return { allowed: false, retry_after_seconds: taken.retryAfterSeconds };
  };
}
