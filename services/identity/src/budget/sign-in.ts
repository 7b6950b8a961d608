import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { takeToken } from "./token-bucket.ts";

type BudgetDeps = Pick<Deps, "db" | "limits" | "now"> & { events: Pick<Deps["events"], "rateLimited"> };

/** identity.sign-in-budget.take */
export function createTakeSignInBudget(deps: BudgetDeps): Handler<typeof accounts.takeSignInBudget> {
  const { db, limits, now, events } = deps;
  const isNews = createNews(limits.rate_limit_audit_every);
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
    if (isNews(address, at)) events.rateLimited(context, { address });
    return { allowed: false, retry_after_seconds: taken.retryAfterSeconds };
  };
}

const mostRemembered = 10_000;

/** A flood must not fill the audit log: each replica tells of an address once within a span. */
function createNews(everyMs: number): (address: string, at: Date) => boolean {
  const toldAt = new Map<string, number>();
  return (address, at) => {
    const last = toldAt.get(address);
    if (last !== undefined && at.getTime() - last < everyMs) return false;
    toldAt.delete(address);
    toldAt.set(address, at.getTime());
    const [oldest] = toldAt.keys();
    if (toldAt.size > mostRemembered && oldest !== undefined) toldAt.delete(oldest);
    return true;
  };
}
