import { auditActor, type Handler } from "@svc/mesh";
import { Fault, type submissions } from "@svc/proto";
import { sql } from "kysely";
import { createBuild } from "../build/create.ts";
import { setupProblem } from "../build/policy.ts";
import type { Settings } from "../config.ts";
import type { BuildsTrx } from "../database.ts";
import { readReason } from "../reason.ts";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { queueNotice } from "./notice.ts";
import { contextRefOf, type SubmissionRow, toSubmission } from "./row.ts";
import { addAudit, changeSubmission, lockSubmission } from "./store.ts";

/** builds.submission.approve: the build is made in the transaction of the approval. */
export const approve =
  (deps: SubmissionDeps): Handler<typeof submissions.approve> =>
  async (context, { id, expected_digest }) => {
    const { db, settings } = deps;
    assertBuilds(settings);
    const reviewer = accountOf(context.principal);
    const row = await db.transaction().execute(async (trx) => {
      const pending = await lockPending(trx, id);
      if (pending.context_sha256 !== expected_digest) throw context.fault("context_changed");
      const imageRef = `${settings.registry.url}/user-uploads/${id}:latest`;
      const build = await createBuild(trx, {
        imageRef,
        contextRef: contextRefOf(settings, id),
        contextDigest: expected_digest,
        dockerfile: pending.dockerfile,
        requestedBy: pending.submitted_by,
        requestedById: pending.submitted_by_id,
        submissionId: id,
      });
      const approved = await changeSubmission(trx, id, {
        status: "approved",
        image_ref: imageRef,
        build_id: build.id,
        reviewed_by: reviewer.username,
        reviewed_at: sql<Date>`now()`,
      });
      const payload = { id, image_ref: imageRef, build_id: build.id, context_sha256: expected_digest };
      await addAudit(trx, { ...auditActor(context), action: "submission.approve", payload });
      await queueNotice(trx, { event: `approved:${id}`, kind: "submission-approved", row: approved });
      return approved;
    });
    deps.metrics.reviewed("approved", row.uploaded_at);
    deps.onNotice();
    return toSubmission(settings, row);
  };

/** builds.submission.reject */
export const reject =
  (deps: SubmissionDeps): Handler<typeof submissions.reject> =>
  async (context, { id, reason: given }) => {
    const reason = readReason(given);
    const reviewer = accountOf(context.principal);
    const row = await deps.db.transaction().execute(async (trx) => {
      await lockPending(trx, id);
      const rejected = await changeSubmission(trx, id, {
        status: "rejected",
        reject_reason: reason,
        reviewed_by: reviewer.username,
        reviewed_at: sql<Date>`now()`,
      });
      await addAudit(trx, { ...auditActor(context), action: "submission.reject", payload: { id, reason } });
      const event = `rejected:${id}`;
      await queueNotice(trx, { event, kind: "submission-rejected", row: rejected, reason });
      return rejected;
    });
    deps.metrics.reviewed("rejected", row.uploaded_at);
    deps.onNotice();
    return toSubmission(deps.settings, row);
  };

async function lockPending(trx: BuildsTrx, id: string): Promise<SubmissionRow> {
  const row = await lockSubmission(trx, id);
  if (row.status !== "pending_review") throw new Fault("already_reviewed");
  return row;
}

function assertBuilds(settings: Settings): void {
  const problem = setupProblem(settings);
  if (problem !== undefined) throw new Fault("registry_unavailable", { message: problem });
}
