import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import { takeToken } from "@svc/store";
import type { Deps } from "../deps.ts";

type BudgetDeps = Pick<Deps, "db" | "limits" | "now"> & { events: Pick<Deps["events"], "rateLimited"> };

/** identity.sign-in-budget.take */
export function createTakeSignInBudget(deps: BudgetDeps): Handler<typeof accounts.takeSignInBudget> {
  const { db, limits, now, events } = deps;
  const mayAudit = createAuditThrottle(limits.rate_limit_audit_every);
  return async (context, { address }) => {
    const at = now();
    const taken = await takeToken(db, {
      table: "sign_in_budgets",
      key: address,
      burst: limits.sign_in_burst,
      perSecond: limits.sign_in_per_minute / 60,
      now: at,
    });
    if (taken.allowed) return { allowed: true, retry_after_seconds: 0 };
    if (mayAudit(address, at)) events.rateLimited(context, { address });
    return { allowed: false, retry_after_seconds: taken.retryAfterSeconds };
  };
}

const rememberedLimit = 10_000;

/** A flood must not fill the audit log: each replica records an address once per interval. */
function createAuditThrottle(everyMs: number): (address: string, at: Date) => boolean {
  const answeredAt = new Map<string, number>();
  return (address, at) => {
    const last = answeredAt.get(address);
    if (last !== undefined && at.getTime() - last < everyMs) return false;
    answeredAt.delete(address);
    answeredAt.set(address, at.getTime());
    const [oldest] = answeredAt.keys();
    if (answeredAt.size > rememberedLimit && oldest !== undefined) answeredAt.delete(oldest);
    return true;
  };
}
