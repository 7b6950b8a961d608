import { auditActor, type Handler } from "@svc/mesh";
import { Fault, type submissions } from "@svc/proto";
import type { BuildsTrx } from "../database.ts";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { toSubmission } from "./row.ts";
import { readDisplayName } from "./rules.ts";
import { assertCooledDown, assertRoom, startCooldown, withLimits } from "./space.ts";
import { addAudit, addSubmission } from "./store.ts";

/** builds.submission.create */
export const create =
  (deps: SubmissionDeps): Handler<typeof submissions.create> =>
  async (context, { display_name }) => {
    const { settings } = deps;
    const displayName = readDisplayName(display_name);
    const { userId, username } = accountOf(context.principal);
    const row = await withLimits(deps, async (trx, volume) => {
      await assertFewPending(trx, userId, settings.builds.submissions_pending);
      // One that could not be given a single byte is refused now.
      await assertRoom(trx, settings, { userId, bytes: 1, volume });
      await assertCooledDown(trx, settings, { userId, kind: "create" });
      await startCooldown(trx, { userId, kind: "create" });
      const added = await addSubmission(trx, { userId, username, displayName });
      const payload = { id: added.id, display_name: displayName };
      await addAudit(trx, { ...auditActor(context), action: "submission.create", payload });
      return added;
    });
    return toSubmission(settings, row);
  };

async function assertFewPending(trx: BuildsTrx, userId: string, most: number): Promise<void> {
  const { count } = await trx
    .selectFrom("image_submissions")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("submitted_by_id", "=", userId)
    .where("status", "=", "pending_review")
    .executeTakeFirstOrThrow();
  if (count < most) return;
  const message = `You have ${count} submissions in review, as many as allowed; withdraw one or wait for its review.`;
  throw new Fault("submission_quota_exceeded", { message });
}
