// Redeeming is a saga (docs/reference/data.md#sagas): the target's code is accepted under a lease, lifecycle transfers the servers in
// one transaction of its own under the id of the transfer, and then the source is retired. A process that dies between
// two steps leaves the state `redeeming` behind a lease that expires; any replica resumes it, and lifecycle gives the same
// answer to the same id. The target is answered once, by this request or, when it died, by the next with the same code.

import type { Handler } from "@svc/mesh";
import { type accountMigrations, Fault } from "@svc/proto";
import { takeCodeAttempt } from "../budget/code.ts";
import { hashBindCode } from "../link/code.ts";
import { getAccount } from "../principal.ts";
import { type RedemptionDeps, runRedemption } from "./act.ts";
import type { Transfer } from "./policy.ts";
import { decideRedemption, type RedeemPlan } from "./redemption-plan.ts";
import { isRedeeming, leaseRedemption, markAnswered } from "./redemption-store.ts";
import { findByCode, findTransfer, lockBoth } from "./store.ts";

type Output = { migrated: true; servers_moved: number; servers: string[] };

/** identity.account-transfer.redeem */
export function createRedeem(deps: RedemptionDeps): Handler<typeof accountMigrations.redeem> {
  const { db, now, events } = deps;
  return async (context, { code }) => {
    await takeCodeAttempt(deps, context, "account_migration");
    const found = await findByCode(db, hashBindCode(code));
    const callerId = getAccount(context.principal).user_id;
    const plan: RedeemPlan = found ? await begin(deps, found, callerId) : unknownCode;
    switch (plan.act) {
      case "transfer_servers": {
        const { transfer } = plan;
        return toOutput(await runRedemption(deps, { transfer, requester: context, isAnswered: true }));
      }
      case "answer": {
        const isFirst = await markAnswered(db, { id: plan.transfer.id, now: now() });
        if (!isFirst) throw context.fault("invalid_code");
        return toOutput(plan.transfer.servers ?? []);
      }
      case "refuse":
        if (plan.reason === "busy") throw context.fault("unavailable", busy);
        events.signInFailed(context, { door: "account_migration", reason: "bad_code" });
        throw context.fault("invalid_code");
    }
  };
}

const unknownCode: RedeemPlan = { act: "refuse", reason: "invalid_code" };
const busy = {
  message: "Servers of one of these accounts are being transferred; try again in a moment.",
  retryAfterSeconds: 5,
};

/** Observes under both locks, decides, and takes the lease that the plan asks for. */
function begin(deps: RedemptionDeps, found: Transfer, callerId: string): Promise<RedeemPlan> {
  return deps.db.transaction().execute(async (trx) => {
    const now = deps.now();
    const { source, target } = await lockBoth(trx, found.sourceUserId, callerId);
    // A gateway may know a session for some seconds longer than the account lives.
    if (!target || target.disabled || target.deletedAt) throw new Fault("unauthorized");
    const transfer = await findTransfer(trx, found.id);
    const isBusy = await isRedeeming(trx, { userIds: [found.sourceUserId, callerId], except: found.id });
    const observed = { transfer, source, callerId, isBusy };
    const plan = decideRedemption(observed, now, deps.limits.migration_lease);
    if (plan.act !== "transfer_servers") return plan;
    const { requeueAt } = plan;
    await leaseRedemption(trx, { id: found.id, until: requeueAt, now });
    return { ...plan, transfer: { ...plan.transfer, leasedUntil: requeueAt } };
  });
}

function toOutput(servers: readonly string[]): Output {
  return { migrated: true, servers_moved: servers.length, servers: [...servers] };
}
