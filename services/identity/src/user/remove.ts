// Deleting a user is a saga (docs/reference/data.md#sagas): the account is deleted in one transaction, and lifecycle releases its
// servers after it. The row of the deletion stays open until lifecycle has answered, so a crash between the two is
// repaired by the next replica that polls.

import type { Handler, Mesh } from "@svc/mesh";
import { ownership, type users } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { getAccount } from "../principal.ts";
import { startSagaLoop } from "../saga.ts";
import { decideDeletion, decideOutcome, type StepOutcome } from "./deletion-plan.ts";
import { endAccount } from "./retire.ts";
import { endDeletion, lockUser, markDeleted, takeDeletion } from "./store.ts";

type DeletionDeps = Pick<Deps, "db" | "now" | "limits"> & { mesh: Pick<Mesh, "call">; log: Logger };

/** identity.user.remove */
export function createRemoveUser(deps: Deps & DeletionDeps): Handler<typeof users.remove> {
  const { db, now } = deps;
  return async (context, { id }) => {
    const caller = getAccount(context.principal);
    await db.transaction().execute(async (trx) => {
      const plan = decideDeletion({ user: await lockUser(trx, id), callerId: caller.user_id }, now());
      if (plan.act === "refuse")
        throw context.fault(plan.fault, plan.fault === "not_found" ? { message: "User not found." } : {});
      await markDeleted(trx, id, plan.requeueAt);
      const count = await endAccount(trx, { userId: id, by: "deleted", now: now() });
      await deps.events.sessionsRevoked(trx, context, { count, action: "user.session.revoke" });
      await recordAudit(trx, context, { action: "user.delete", payload: { user_id: id } });
    });
    // The answer does not wait for the servers, which are released in the background.
    void resumeNext(deps, id).catch(() => undefined);
    return { deleted: true };
  };
}

/** Releases the servers of one pending deletion; false when none is due. */
async function resumeNext({ mesh, db, now, limits, log }: DeletionDeps, only?: string): Promise<boolean> {
  const retryAt = new Date(now().getTime() + limits.deletion_retry);
  const userId = await takeDeletion(db, { now: now(), retryAt, ...(only !== undefined && { only }) });
  if (userId === undefined) return false;
  const outcome = await mesh
    .call(ownership.releaseAccount, { user_id: userId })
    .catch((error: unknown): StepOutcome => ({ error }));
  const plan = decideOutcome(outcome, retryAt);
  if (plan.act === "end") {
    await endDeletion(db, userId, now());
    log.info({ user_id: userId, released: plan.released }, "released the servers of a deleted user");
  } else {
    // Taking it has left it due again at `requeueAt`.
    log.warn({ user_id: userId, err: plan.error }, "release of a deleted user's servers failed; retrying");
  }
  return true;
}

/** Completes pending deletions; any number of replicas may run it. */
export function startDeletions(deps: DeletionDeps): { close: () => Promise<void> } {
  return startSagaLoop({
    resumeNext: () => resumeNext(deps),
    everyMs: deps.limits.deletion_retry,
    onError: (error) => deps.log.warn({ err: error }, "reading pending deletions failed; retrying"),
  });
}
