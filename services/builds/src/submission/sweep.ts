// Deletes what nobody needs any more: contexts of rejected submissions, staged uploads that were left, and blobs that no row
// names, which killed processes leave. Every replica may do it at once.

import { sql } from "kysely";
import type { BuildsDb } from "../database.ts";
import type { SubmissionDeps } from "./deps.ts";
import { blobsOf } from "./row.ts";

const isOlder = (column: string, ms: number) =>
  sql<boolean>`${sql.ref(column)} < now() - ${ms} * interval '1 millisecond'`;

export async function sweepContexts(
  deps: Pick<SubmissionDeps, "db" | "settings" | "contexts" | "log">,
): Promise<void> {
  const { db, contexts, log } = deps;
  const { rejected_keep, staged_keep, unnamed_keep } = deps.settings.builds;
  const rejected = await db
    .updateTable("image_submissions")
    .set({ context_sha256: null, context_bytes: null, context_parts: "[]", context_index: null })
    .where("status", "=", "rejected")
    .where("context_sha256", "is not", null)
    .where(isOlder("reviewed_at", rejected_keep))
    .returning("id")
    .execute();
  if (rejected.length > 0)
    await db
      .deleteFrom("submission_packs")
      .where(
        "submission_id",
        "in",
        rejected.map(({ id }) => id),
      )
      .execute();
  const staged = await db
    .deleteFrom("submission_uploads")
    .where(isOlder("touched_at", staged_keep))
    .where(sql<boolean>`coalesce(writer_until < now(), true)`)
    .returning("submission_id")
    .execute();
  await db
    .deleteFrom("submission_notices")
    .where(isOlder("sent_at", 30 * 86_400_000))
    .execute();
  // Listed before the rows are read: a blob that a row names by now is kept, a young one may be named soon.
  const before = Date.now() - unnamed_keep;
  const old = (await contexts.list()).filter(({ modifiedAt }) => modifiedAt < before);
  const named = old.length > 0 ? await readNamed(db) : new Set<string>();
  const orphans = old.filter(({ name }) => !named.has(name)).map(({ name }) => name);
  await contexts.remove(orphans);
  if (rejected.length + staged.length + orphans.length === 0) return;
  const counts = { rejected: rejected.length, staged: staged.length, blobs: orphans.length };
  log.info(counts, "contexts swept");
}

async function readNamed(db: BuildsDb): Promise<Set<string>> {
  const rows = await db.selectFrom("image_submissions").select(["context_parts", "context_index"]).execute();
  const uploads = await db.selectFrom("submission_uploads").select("parts").execute();
  const blobs = [...rows.flatMap(blobsOf), ...uploads.flatMap(({ parts }) => parts)];
  return new Set(blobs.map(({ name }) => name));
}
