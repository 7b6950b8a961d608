// The steps of a redemption that come after its code was taken.

import { isFault, ownership } from "@svc/proto";
import { type Requester, recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { findQuota, unlimited } from "../quota/store.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { endAccount } from "../user/retire.ts";
import { markDeleted } from "../user/store.ts";
import type { Migration } from "./policy.ts";
import { abandonRedemption, endRedemption, giveCodeBack, markAnswered } from "./redemption-store.ts";
import { findTarget, lockSource } from "./store.ts";

export type HandOver = Deps &
  Pick<ServiceDeps, "mesh" | "mailQueue" | "log"> & {
    /** Counts what became of redemptions. */
    count: (result: "redeemed" | "refused" | "interrupted") => void;
  };
export type Work = {
  migration: Migration;
  asker: Requester;
  /** Whether the target hears of the end from this very call. */
  isTold: boolean;
};

/**
 * Moves the servers and retires the source; call it with the lease. Throws `migrate_quota_exceeded` when nothing was
 * moved, and whatever else went wrong with the redemption left for anybody to carry on.
 */
export async function handOver(needs: HandOver, work: Work): Promise<string[]> {
  const { db, count, log } = needs;
  const { id, leasedUntil } = work.migration;
  try {
    const servers = await moveServers(needs, work);
    await retireSource(needs, work, servers);
    count("redeemed");
    return servers;
  } catch (error) {
    const leased = { id, leasedUntil, now: needs.now() };
    if (isFault(error) && error.fault === "migrate_quota_exceeded") {
      await giveCodeBack(db, leased);
      count("refused");
      throw error;
    }
    count("interrupted");
    log.warn({ migration: id, err: error }, "an account migration is not over yet; it is carried on");
    await abandonRedemption(db, leased).catch(() => undefined);
    throw error;
  }
}

async function moveServers({ db, mesh }: HandOver, { migration, asker }: Work): Promise<string[]> {
  const { id, sourceUserId, targetUserId } = migration;
  if (targetUserId === null) throw new Error(`account migration ${id} has no target`);
  const quota = await findQuota(db, targetUserId);
  const { servers } = await mesh.call(
    ownership.transferAccount,
    {
      transfer_id: id,
      from_user_id: sourceUserId,
      to_user_id: targetUserId,
      limits: quota?.limits ?? unlimited,
    },
    { requestId: asker.requestId, principal: asker.principal, client: asker.client },
  );
  return servers;
}

// Servers that the source took while it was giving its others away are released with the deletion.
async function retireSource(needs: HandOver, work: Work, servers: readonly string[]): Promise<void> {
  const { db, events, mailQueue } = needs;
  const { id, sourceUserId, targetUserId } = work.migration;
  const now = needs.now();
  const isRetired = await db.transaction().execute(async (trx) => {
    const source = await lockSource(trx, sourceUserId);
    if (!(await endRedemption(trx, { id, servers, isTold: work.isTold, now }))) return false;
    await markDeleted(trx, sourceUserId, now);
    const count = await endAccount(trx, { userId: sourceUserId, by: "migrated", now });
    if (source?.emailVerified && source.email !== null) {
      const target = await findTarget(trx, targetUserId ?? "");
      const facts = { target: target?.username ?? "", servers: servers.length };
      const { email: to, language } = source;
      await mailQueue.add(trx, { kind: "migration_done", to, language, facts });
    }
    await events.sessionsRevoked(trx, work.asker, { count, action: "user.session.revoke" });
    const payload = { migration: id, source_user_id: sourceUserId, target_user_id: targetUserId, servers };
    await recordAudit(trx, work.asker, { action: "account.migrate.redeem", payload });
    return true;
  });
  if (!isRetired) {
    // Another process was sooner; the target hears of it from this one all the same.
    if (work.isTold) await markAnswered(db, { id, now });
    return;
  }
  mailQueue.wake();
}
