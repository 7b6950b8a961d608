// Contexts of submissions for off-site copies, and back (docs/reference/off-site.md#contexts).

import type { Handler } from "@svc/mesh";
import { Fault, isFault, type offsiteBuilds, submissions } from "@svc/proto";
import { verified } from "@svc/service/verified";
import { checkContext } from "../context/check.ts";
import { newBlobName } from "../context/store.ts";
import type { Blob } from "../database.ts";
import type { SubmissionDeps } from "./deps.ts";
import { findContext, transferOf } from "./download.ts";
import { splitter } from "./receive.ts";
import { blobsOf, type SubmissionRow } from "./row.ts";
import { changeSubmission, lockSubmission } from "./store.ts";
import { removeQuietly } from "./upload-lease.ts";

type ContextDeps = Pick<SubmissionDeps, "db" | "contexts" | "byteTransfers" | "slots" | "log">;

const pageRows = 1_000;

/** builds.offsite.list-contexts */
export const listContexts =
  ({ db, contexts }: ContextDeps): Handler<typeof offsiteBuilds.listContexts> =>
  async (_context, { cursor = "" }) => {
    const rows = await db
      .selectFrom("image_submissions")
      .selectAll()
      .where("context_sha256", "is not", null)
      .where("id", ">", cursor)
      .orderBy("id")
      .limit(pageRows)
      .execute();
    // Without a row nobody is asked for files: an installation without uploads has no store.
    const stored = rows.length === 0 ? [] : await contexts.list();
    const sizes = new Map(stored.map(({ name, size }) => [name, size]));
    const last = rows.length === pageRows ? rows.at(-1)?.id : undefined;
    return { items: rows.map((row) => toContext(row, sizes)), ...(last !== undefined && { next: last }) };
  };

function toContext(row: SubmissionRow, sizes: ReadonlyMap<string, number>): offsiteBuilds.OffsiteContext {
  const { id, context_sha256: sha256, context_bytes, context_parts, context_index } = row;
  const isWhole =
    context_index !== null &&
    sizes.has(context_index) &&
    context_parts.every(({ name, size }) => sizes.get(name) === size);
  return {
    id,
    size_bytes: Number(context_bytes),
    sha256: sha256 ?? "",
    local: isWhole ? "whole" : "missing",
  };
}

/** builds.offsite.read-context */
export const readContext =
  (deps: ContextDeps): Handler<typeof offsiteBuilds.readContext> =>
  async (context, { id }) => {
    const { row } = await findContext(deps, id);
    context.reply.byteTransfer = transferOf(deps, row, {});
    return null;
  };

/** builds.offsite.write-context: answers when the files are there and the submission names them. */
export const writeContext =
  (deps: ContextDeps): Handler<typeof offsiteBuilds.writeContext> =>
  async (context, { id }) => {
    const { row, sha256 } = await findContext(deps, id);
    const expected = { size: Number(row.context_bytes), sha256 };
    context.reply.byteTransfer = deps.byteTransfers.upload({
      receive: async (body, _head, signal) => {
        const bytes = verified(body, expected, () => new Fault("digest_mismatch"));
        await putBack(deps, { id, ...expected }, { bytes, signal });
        return null;
      },
    });
    return null;
  };

type Wanted = { id: string; size: number; sha256: string };

async function putBack(
  deps: ContextDeps,
  { id, size: length, sha256 }: Wanted,
  { bytes, signal }: { bytes: AsyncGenerator<Uint8Array>; signal: AbortSignal },
): Promise<void> {
  const { db, contexts, slots } = deps;
  const parts: Blob[] = [];
  try {
    const chunks = splitter(bytes);
    for (let left = length; left > 0; left -= parts.at(-1)?.size ?? left) {
      const part = { name: newBlobName(id, "part"), size: Math.min(left, submissions.contextPartBytes) };
      await contexts.put(part.name, chunks.take(part.size), signal);
      parts.push(part);
    }
    // The list of entries is rebuilt, and every byte read back.
    const { index } = await slots.run(() => checkContext(contexts, { id, parts }, signal), signal);
    parts.push(index);
    const replaced = await db.transaction().execute(async (trx) => {
      const row = await lockSubmission(trx, id);
      if (row.context_sha256 !== sha256)
        throw new Fault("digest_mismatch", { message: "The submission has another context now." });
      const context_parts = JSON.stringify(parts.slice(0, -1));
      await changeSubmission(trx, id, { context_parts, context_index: index.name });
      return row;
    });
    await removeQuietly(deps, blobsOf(replaced));
  } catch (error) {
    // A lost answer of the database may have been a success; the sweep knows.
    if (!isFault(error) || error.fault !== "unavailable") await removeQuietly(deps, parts);
    throw error;
  } finally {
    await bytes.return(undefined);
  }
}
