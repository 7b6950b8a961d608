import { auditActor, type Handler } from "@svc/mesh";
import type { builds } from "@svc/proto";
import type { BuildsTrx } from "../database.ts";
import { createBuild } from "./create.ts";
import type { BuildDeps } from "./deps.ts";
import { setupProblem, submissionOf } from "./policy.ts";
import { type BuildRow, toBuild } from "./row.ts";
import { auditBuild } from "./start.ts";
import { findBuild } from "./store.ts";

/** builds.build.retry: a new build of the same context; the submission that it came from follows it. */
export function createRetry(deps: Pick<BuildDeps, "db" | "settings">): Handler<typeof builds.retryBuild> {
  const { db, settings } = deps;
  return async (context, { id }) => {
    const unset = setupProblem(settings);
    if (unset !== undefined) throw context.fault("unavailable", { message: unset });
    return db.transaction().execute(async (trx) => {
      const before = await findBuild(trx, id);
      if (!before) throw context.fault("not_found", { message: "There is no build with this id." });
      if (before.status !== "failed" && before.status !== "cancelled")
        throw context.fault("build_unfinished");
      const isScan = before.kind === "scan";
      if (!isScan && !(await isContextKept(trx, before, settings.builds.internal_url)))
        throw context.fault("context_changed");
      const row = await createBuild(trx, {
        imageRef: before.image_ref,
        contextRef: before.context_ref,
        scanOf: isScan ? (before.image_digest ?? undefined) : undefined,
        contextDigest: before.context_digest ?? undefined,
        dockerfile: before.dockerfile,
        baseImage: before.base_image ?? undefined,
        requestedBy: auditActor(context).actor,
        requestedById: context.principal.kind === "account" ? context.principal.user_id : undefined,
        submissionId: before.submission_id ?? undefined,
        retryOf: id,
      });
      await trx
        .updateTable("image_submissions")
        .set({ build_id: row.id })
        .where("build_id", "=", id)
        .execute();
      await auditBuild(trx, context, { action: "build.start", row });
      return toBuild(row);
    });
  };
}

/** Whether the submission still has the bytes that were built before. */
async function isContextKept(trx: BuildsTrx, build: BuildRow, internalUrl: string): Promise<boolean> {
  const id = submissionOf(build.context_ref, internalUrl);
  if (id === undefined) return false;
  const submission = await trx
    .selectFrom("image_submissions")
    .select("context_sha256")
    .where("id", "=", id)
    .executeTakeFirst();
  if (!submission?.context_sha256) return false;
  return build.context_digest === null || submission.context_sha256 === build.context_digest;
}
