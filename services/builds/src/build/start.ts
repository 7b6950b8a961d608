import { auditActor, type Context, type Handler } from "@svc/mesh";
import type { AnyContract, builds } from "@svc/proto";
import { auditRow } from "@svc/store";
import type { BuildsTrx } from "../database.ts";
import { createBuild } from "./create.ts";
import type { BuildDeps } from "./deps.ts";
import { setupProblem, submissionOf, targetProblem } from "./policy.ts";
import { type BuildRow, toBuild } from "./row.ts";

/** builds.build.start: the reconcile starts it once a slot is free, so it is accepted while the cluster is down. */
export function createStart(deps: Pick<BuildDeps, "db" | "settings">): Handler<typeof builds.startBuild> {
  const { db, settings } = deps;
  return async (context, input) => {
    const unset = setupProblem(settings);
    if (unset !== undefined) throw context.fault("unavailable", { message: unset });
    const problem = targetProblem(input.image_ref, settings.registry.url);
    if (problem !== undefined) throw context.fault("bad_request", { message: `image_ref: ${problem}` });
    const submissionId = submissionOf(input.context_ref, settings.builds.internal_url);
    if (submissionId === undefined) {
      throw context.fault("bad_request", {
        message: "context_ref: must be the internal address of a submission's context",
      });
    }
    return db.transaction().execute(async (trx) => {
      const row = await createBuild(trx, {
        imageRef: input.image_ref,
        contextRef: input.context_ref,
        contextDigest: input.context_digest,
        dockerfile: input.dockerfile,
        baseImage: input.base_image,
        requestedBy: auditActor(context).actor,
        requestedById: context.principal.kind === "account" ? context.principal.user_id : undefined,
      });
      await auditBuild(trx, context, { action: "build.start", row });
      return toBuild(row);
    });
  };
}

/** The audit entry of a build, in the transaction of its change. */
export async function auditBuild(
  trx: BuildsTrx,
  context: Context<AnyContract>,
  { action, row }: { action: "build.start" | "build.cancel"; row: BuildRow },
): Promise<void> {
  const payload = {
    build_id: row.id,
    image_ref: row.image_ref,
    ...(row.context_digest !== null && { context_digest: row.context_digest }),
    ...(row.retry_of !== null && { retry_of: row.retry_of }),
  };
  const entry = auditRow("builds", { ...auditActor(context), action, payload });
  await trx.insertInto("outbox").values(entry).execute();
}
