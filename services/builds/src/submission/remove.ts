import { auditActor, type Context, type Handler } from "@svc/mesh";
import type { AnyContract, submissions } from "@svc/proto";
import type { BuildsTrx } from "../database.ts";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { blobsOf, type SubmissionRow, toSubmission } from "./row.ts";
import { addAudit, deleteSubmission, getOwnPending, lockSubmission } from "./store.ts";
import { readStaged, removeQuietly } from "./upload-lease.ts";

/** builds.submission.withdraw */
export const withdraw =
  (deps: SubmissionDeps): Handler<typeof submissions.withdraw> =>
  (context, { id }) => {
    const { userId } = accountOf(context.principal);
    const load = (trx: BuildsTrx) => getOwnPending(trx, { id, userId, lock: true });
    return removeWith(deps, context, { load, action: "submission.withdraw" });
  };

/** builds.submission.remove */
export const remove =
  (deps: SubmissionDeps): Handler<typeof submissions.remove> =>
  (context, { id }) =>
    removeWith(deps, context, { load: (trx) => lockSubmission(trx, id), action: "submission.delete" });

type Removal = { load: (trx: BuildsTrx) => Promise<SubmissionRow>; action: string };

async function removeWith(
  deps: SubmissionDeps,
  context: Context<AnyContract>,
  { load, action }: Removal,
): Promise<submissions.Submission> {
  const { row, blobs } = await deps.db.transaction().execute(async (trx) => {
    const row = await load(trx);
    const staged = await readStaged(trx, row.id);
    await deleteSubmission(trx, row.id);
    const { id, submitted_by, display_name, status } = row;
    const payload = { id, submitted_by, display_name, status };
    await addAudit(trx, { ...auditActor(context), action, payload });
    return { row, blobs: [...blobsOf(row), ...staged.parts] };
  });
  await removeQuietly(deps, blobs);
  return toSubmission(deps.settings, row);
}
