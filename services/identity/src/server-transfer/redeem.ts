// Redeeming is a saga (architecture.md 4): the target's code is taken, lifecycle moves the servers in one transaction of
// its own under the id of the migration, and then the source is retired. A process that dies between two steps leaves
// the state `redeeming` behind a lease that runs out; whoever looks next carries it on, and lifecycle gives the same
// answer to the same id. The target is told once, by this request or, when it died, by the next with the same code.

import type { Context, Handler } from "@svc/mesh";
import { type accountMigrations, Fault } from "@svc/proto";
import { takeCodeAttempt } from "../budget/code.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { hashBindCode } from "../link/code.ts";
import { getAccount } from "../principal.ts";
import { type HandOver, handOver } from "./finish.ts";
import { decideRedeem, type Migration, type RedeemVerdict } from "./policy.ts";
import { isRedeeming, leaseRedemption, markAnswered } from "./redemption-store.ts";
import { findByCode, findMigration, lockBoth } from "./store.ts";

type Output = { migrated: true; servers_moved: number; servers: string[] };

/** identity.account-migration.redeem */
export function createRedeem(needs: HandOver): Handler<typeof accountMigrations.redeem> {
  return async (context, { code }) => {
    await takeCodeAttempt(needs, context, "account_migration");
    const callerId = getAccount(context.principal).user_id;
    const { verdict, migration } = await begin(needs, { code, callerId });
    if (verdict === "invalid_code" || !migration) {
      needs.events.signInFailed(context, { door: "account_migration", reason: "bad_code" });
      throw context.fault("invalid_code");
    }
    if (verdict === "busy") throw context.fault("unavailable", busy);
    if (verdict === "tell") return tell(needs, context, migration);
    return toOutput(await handOver(needs, { migration, asker: context, isTold: true }));
  };
}

const busy = {
  message: "Servers of one of these accounts are being handed over right now; try again in a moment.",
  retryAfterSeconds: 5,
};
type Begun = { verdict: RedeemVerdict; migration: Migration | undefined };

async function begin(deps: Deps, given: { code: string; callerId: string }): Promise<Begun> {
  const found = await findByCode(deps.db, hashBindCode(given.code));
  if (!found) return { verdict: "invalid_code", migration: undefined };
  return deps.db.transaction().execute((trx) => settle(deps, trx, { found, callerId: given.callerId }));
}

async function settle(
  deps: Deps,
  trx: IdentityTrx,
  { found, callerId }: { found: Migration; callerId: string },
): Promise<Begun> {
  const now = deps.now();
  const { source, target } = await lockBoth(trx, found.sourceUserId, callerId);
  // A gateway may know a session for some seconds longer than the account lives.
  if (!target || target.disabled || target.deletedAt) throw new Fault("unauthorized");
  const migration = await findMigration(trx, found.id);
  const isBusy = await isRedeeming(trx, { userIds: [found.sourceUserId, callerId], except: found.id });
  const verdict = decideRedeem(migration, { callerId, source, isBusy, now });
  if (!migration || (verdict !== "begin" && verdict !== "carry_on")) return { verdict, migration };
  const leasedUntil = new Date(now.getTime() + deps.limits.migration_lease);
  await leaseRedemption(trx, { id: found.id, until: leasedUntil, now });
  return { verdict, migration: { ...migration, leasedUntil } };
}

async function tell(
  { db, now }: HandOver,
  context: Context<typeof accountMigrations.redeem>,
  migration: Migration,
): Promise<Output> {
  const isFirst = await markAnswered(db, { id: migration.id, now: now() });
  if (!isFirst) throw context.fault("invalid_code");
  return toOutput(migration.servers ?? []);
}

function toOutput(servers: readonly string[]): Output {
  return { migrated: true, servers_moved: servers.length, servers: [...servers] };
}
