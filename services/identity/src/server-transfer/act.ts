// The effects of a redemption, once its code was accepted under a lease.

import { ownership } from "@svc/proto";
import { type Requester, recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { findQuota, unlimited } from "../quota/store.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { endAccount } from "../user/retire.ts";
import { markDeleted } from "../user/store.ts";
import type { Transfer } from "./policy.ts";
import { decideOutcome, type StepOutcome } from "./redemption-plan.ts";
import { endRedemption, markAnswered, releaseLease, returnCode } from "./redemption-store.ts";
import { findTarget, lockSource } from "./store.ts";

export type RedemptionDeps = Pick<Deps, "db" | "now" | "limits" | "events"> &
  Pick<ServiceDeps, "mesh" | "mailQueue" | "log"> & {
    /** Counts redemptions by outcome. */
    count: (result: "redeemed" | "refused" | "interrupted") => void;
  };
type Redemption = {
  transfer: Transfer;
  requester: Requester;
  /** Whether the target gets the outcome as the answer to this call. */
  isAnswered: boolean;
};

/**
 * Transfers the servers and retires the source; call it with the lease. Throws `migrate_quota_exceeded` when nothing was
 * transferred; after any other failure the redemption is left for any replica to resume.
 */
export async function runRedemption(deps: RedemptionDeps, redemption: Redemption): Promise<string[]> {
  const outcome = await transferServers(deps, redemption).then(
    (servers): StepOutcome => ({ servers }),
    (error: unknown): StepOutcome => ({ error }),
  );
  return act(deps, redemption, outcome);
}

async function act(deps: RedemptionDeps, redemption: Redemption, outcome: StepOutcome): Promise<string[]> {
  const { db, log, count } = deps;
  const { id, leasedUntil } = redemption.transfer;
  const now = deps.now();
  const plan = decideOutcome(outcome, now);
  switch (plan.act) {
    case "retire_source":
      try {
        await retireSource(deps, redemption, plan.servers);
      } catch (error) {
        return act(deps, redemption, { error });
      }
      count("redeemed");
      return plan.servers;
    case "return_code":
      await returnCode(db, { id, leasedUntil, now });
      count("refused");
      throw plan.error;
    case "release_lease":
      count("interrupted");
      log.warn({ migration: id, err: plan.error }, "server transfer interrupted; retrying");
      await releaseLease(db, { id, leasedUntil, now: plan.requeueAt }).catch(() => undefined);
      throw plan.error;
  }
}

async function transferServers(
  { db, mesh }: RedemptionDeps,
  { transfer, requester }: Redemption,
): Promise<string[]> {
  const { id, sourceUserId, targetUserId } = transfer;
  if (targetUserId === null) throw new Error(`server transfer ${id} has no target`);
  const quota = await findQuota(db, targetUserId);
  const { servers } = await mesh.call(
    ownership.transferAccount,
    {
      transfer_id: id,
      from_user_id: sourceUserId,
      to_user_id: targetUserId,
      limits: quota?.limits ?? unlimited,
    },
    { requestId: requester.requestId, principal: requester.principal, client: requester.client },
  );
  return servers;
}

// Servers that the source claimed during the transfer are released with the deletion of its account.
async function retireSource(
  deps: RedemptionDeps,
  redemption: Redemption,
  servers: readonly string[],
): Promise<void> {
  const { db, events, mailQueue } = deps;
  const { requester, isAnswered } = redemption;
  const { id, sourceUserId, targetUserId } = redemption.transfer;
  const now = deps.now();
  const isRetired = await db.transaction().execute(async (trx) => {
    const source = await lockSource(trx, sourceUserId);
    if (!(await endRedemption(trx, { id, servers, isAnswered, now }))) return false;
    await markDeleted(trx, sourceUserId, now);
    const count = await endAccount(trx, { userId: sourceUserId, by: "migrated", now });
    if (source?.emailVerified && source.email !== null) {
      const target = await findTarget(trx, targetUserId ?? "");
      const facts = { target: target?.username ?? "", servers: servers.length };
      const { email: to, language } = source;
      await mailQueue.add(trx, { kind: "migration_done", to, language, facts });
    }
    await events.sessionsRevoked(trx, requester, { count, action: "user.session.revoke" });
    const payload = { migration: id, source_user_id: sourceUserId, target_user_id: targetUserId, servers };
    await recordAudit(trx, requester, { action: "account.migrate.redeem", payload });
    return true;
  });
  if (!isRetired) {
    // Another process ended it first; the target still gets its answer from this one.
    if (isAnswered) await markAnswered(db, { id, now });
    return;
  }
  mailQueue.wake();
}
