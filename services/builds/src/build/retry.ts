import { auditActor, type Context, type Handler } from "@svc/mesh";
import { type builds, Fault } from "@svc/proto";
import type { BuildsTrx } from "../database.ts";
import { createBuild } from "./create.ts";
import type { BuildDeps } from "./deps.ts";
import { setupProblem, submissionOf } from "./policy.ts";
import { type BuildRow, toBuild } from "./row.ts";
import { auditBuild } from "./start.ts";
import { findBuild } from "./store.ts";

type Deps = Pick<BuildDeps, "db" | "settings">;

/** builds.build.retry: a new build of the same context; the submission that it came from follows it. */
export function createRetry(deps: Deps): Handler<typeof builds.retryBuild> {
  return (context, { id }) => repeat(deps, context, { id, isRebuild: false });
}

/** builds.build.rebuild: its author has an image and isn't told again; a rebuild that fails changes nothing. */
export function createRebuild(deps: Deps): Handler<typeof builds.rebuild> {
  return (context, { id }) => repeat(deps, context, { id, isRebuild: true });
}

type Repeat = { id: string; isRebuild: boolean };

async function repeat(
  { db, settings }: Deps,
  context: Context<typeof builds.retryBuild | typeof builds.rebuild>,
  { id, isRebuild }: Repeat,
): Promise<builds.Build> {
  const unset = setupProblem(settings);
  if (unset !== undefined) throw context.fault("unavailable", { message: unset });
  return db.transaction().execute(async (trx) => {
    const before = await findBuild(trx, id);
    if (!before) throw context.fault("not_found", { message: "There is no build with this id." });
    assertRepeatable(before, isRebuild);
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
      submissionId: isRebuild ? undefined : (before.submission_id ?? undefined),
      retryOf: id,
    });
    if (!isRebuild) await follow(trx, { from: id, to: row.id });
    await auditBuild(trx, context, { action: "build.start", row });
    return toBuild(row);
  });
}

function assertRepeatable({ status, kind }: BuildRow, isRebuild: boolean): void {
  if (!isRebuild && (status === "failed" || status === "cancelled")) return;
  if (isRebuild && kind === "build" && status === "succeeded") return;
  const message =
    "Only a build that succeeded can be rebuilt; one that failed or was cancelled can be retried.";
  throw new Fault("build_unfinished", isRebuild ? { message } : {});
}

/** The submission shows the build that takes the place of another. */
async function follow(trx: BuildsTrx, { from, to }: { from: string; to: string }): Promise<void> {
  await trx.updateTable("image_submissions").set({ build_id: to }).where("build_id", "=", from).execute();
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
