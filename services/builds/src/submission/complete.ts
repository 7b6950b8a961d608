import { type AuditActor, auditActor, type Handler, readDigest } from "@svc/mesh";
import { Fault, isFault, type packs, type submissions } from "@svc/proto";
import { sql } from "kysely";
import { type CheckedContext, checkContext } from "../context/check.ts";
import type { Blob } from "../database.ts";
import { convertPack } from "../pack/convert.ts";
import { replacePlan } from "../pack/store.ts";
import { accountOf } from "./caller.ts";
import type { SubmissionDeps } from "./deps.ts";
import { assertContextBytes } from "./put-part.ts";
import { receiveBytes } from "./receive.ts";
import { blobsOf, type SubmissionRow, toSubmission } from "./row.ts";
import { assertCooledDown, startCooldown } from "./space.ts";
import { addAudit, changeSubmission, getOwnPending } from "./store.ts";
import { acquireUpload, removeQuietly, type UploadLease } from "./upload-lease.ts";

/** builds.submission.complete-context-upload: what was staged stays when it is refused; a repeat has the same answer. */
export const completeContextUpload =
  (deps: SubmissionDeps): Handler<typeof submissions.completeContextUpload> =>
  async (context, { id }) => {
    const { userId } = accountOf(context.principal);
    await using lease = await acquireUpload(deps, { id, userId, bytes: 0 });
    if (lease.received === 0) {
      // The answer of the completion that took what was staged may have been lost.
      const { submission } = lease;
      if (submission.context_sha256 !== null) return toSubmission(deps.settings, submission);
      throw context.fault("bad_request", { message: "Nothing is staged; send the parts first." });
    }
    return toSubmission(
      deps.settings,
      await complete(deps, { id, userId, lease, actor: auditActor(context) }, context.signal),
    );
  };

/** builds.submission.upload-context: begins again, and drops what came when it is refused. */
export const uploadContext =
  (deps: SubmissionDeps): Handler<typeof submissions.uploadContext> =>
  async (context, { id, content_length: length, content_digest }) => {
    const { db, settings, contexts, byteTransfers } = deps;
    const sha256 = readDigest(content_digest);
    assertContextBytes(length, settings.registry.context_max_bytes);
    const { userId } = accountOf(context.principal);
    await getOwnPending(db, { id, userId });
    // The context ends with this answer, the upload later.
    const actor = auditActor(context);
    context.reply.byteTransfer = byteTransfers.upload({
      receive: async (body, _head, signal) => {
        await using lease = await acquireUpload(deps, { id, userId, offset: 0, bytes: length });
        try {
          await assertCooledDown(db, settings, { userId, kind: "upload" });
          await receiveBytes(contexts, lease, { body, id, length, sha256, isLast: false, signal });
          deps.metrics.received(length);
          if (lease.received === 0) throw new Fault("bad_request", { message: "The context is empty." });
          const row = await complete(deps, { id, userId, lease, actor }, signal);
          return toSubmission(settings, row);
        } catch (error) {
          await lease.drop().catch(() => {});
          throw error;
        }
      },
    });
    return null as never;
  };

type Completing = { id: string; userId: string; lease: UploadLease; actor: AuditActor };

async function complete(
  deps: SubmissionDeps,
  completing: Completing,
  end: AbortSignal,
): Promise<SubmissionRow> {
  const { id, userId, lease } = completing;
  const { db, settings, slots, log } = deps;
  await assertCooledDown(db, settings, { userId, kind: "upload" });
  const signal = AbortSignal.any([end, lease.signal]);
  const ready = await slots.run(() => prepare(deps, { id, lease }, signal), signal);
  if (ready.skipped > 0) log.info({ submission: id, skipped: ready.skipped }, "context entries skipped");
  try {
    const { row, replaced } = await replaceContext(deps, completing, ready);
    await removeQuietly(deps, [...blobsOf(replaced), ...(ready.plan ? lease.parts : [])]);
    return row;
  } catch (error) {
    // A lost answer of the database may have been a success.
    if (isFault(error) && error.fault !== "unavailable")
      await removeQuietly(deps, [ready.index, ...(ready.plan ? ready.parts : [])]);
    throw error;
  }
}

type ReadyContext = CheckedContext & {
  parts: readonly Blob[];
  /** Of a context that was made of a pack. */
  plan?: packs.PackPlan | undefined;
};

/** Checks what is staged; of a pack without a Dockerfile, the context that it becomes. */
async function prepare(
  deps: SubmissionDeps,
  { id, lease }: Pick<Completing, "id" | "lease">,
  signal: AbortSignal,
): Promise<ReadyContext> {
  const { contexts, settings } = deps;
  const staged = { id, parts: lease.parts };
  const pack = await convertPack({ contexts, settings, reserve: lease.reserve }, staged, signal);
  if (!pack) return { ...(await checkContext(contexts, staged, signal)), parts: lease.parts };
  try {
    return { ...(await checkContext(contexts, { id, parts: pack.parts }, signal)), ...pack };
  } catch (error) {
    await removeQuietly(deps, pack.parts);
    throw error;
  }
}

async function replaceContext(
  { db, settings }: Pick<SubmissionDeps, "db" | "settings">,
  { id, userId, lease, actor }: Completing,
  ready: ReadyContext,
) {
  return db.transaction().execute(async (trx) => {
    const replaced = await getOwnPending(trx, { id, userId, lock: true });
    // Serializes the uploads of one account, which share a cooldown.
    await sql`select pg_advisory_xact_lock(hashtext('builds.uploads-of'), hashtext(${userId}))`.execute(trx);
    await assertCooledDown(trx, settings, { userId, kind: "upload" });
    const { numDeletedRows } = await trx
      .deleteFrom("submission_uploads")
      .where("submission_id", "=", id)
      .where("writer", "=", lease.writer)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Fault("upload_busy");
    const row = await changeSubmission(trx, id, {
      context_sha256: ready.sha256,
      context_bytes: ready.bytes,
      context_parts: JSON.stringify(ready.parts),
      context_index: ready.index.name,
      dockerfile: ready.dockerfile,
      pack_format: ready.plan?.format ?? null,
      uploaded_at: sql<Date>`now()`,
    });
    await replacePlan(trx, id, ready.plan);
    await startCooldown(trx, { userId, kind: "upload" });
    const payload = { id, context_sha256: ready.sha256, context_bytes: ready.bytes };
    await addAudit(trx, { ...actor, action: "submission.upload", payload });
    return { row, replaced };
  });
}
