import { isFault } from "@svc/proto";
import { startSagaLoop } from "../saga.ts";
import { type RedemptionDeps, runRedemption } from "./act.ts";
import { leaseAbandoned } from "./redemption-store.ts";

const identityItself = {
  principal: { kind: "service", service: "identity" },
  client: { address: "", userAgent: "" },
} as const;

/** Resumes one abandoned redemption; false when there is none. */
async function resumeNext(deps: RedemptionDeps): Promise<boolean> {
  const { db, limits } = deps;
  const now = deps.now();
  const until = new Date(now.getTime() + limits.migration_lease);
  const transfer = await leaseAbandoned(db, { until, now });
  if (!transfer) return false;
  const requester = { ...identityItself, requestId: transfer.id };
  // A refused quota is an outcome as well; any other failure was logged and is retried.
  await runRedemption(deps, { transfer, requester, isAnswered: false }).catch((error: unknown) => {
    if (!isFault(error) || error.fault !== "migrate_quota_exceeded") throw error;
  });
  return true;
}

/** Resumes abandoned redemptions until closed; any number of replicas may run it. */
export function startTransferLoop(deps: RedemptionDeps): { close: () => Promise<void> } {
  return startSagaLoop({
    resumeNext: () => resumeNext(deps),
    everyMs: deps.limits.migration_retry,
    onError: (error) => deps.log.debug({ err: error }, "server transfer not resumed; retrying"),
  });
}
