import type { Handler } from "@svc/mesh";
import { Fault, type submissions } from "@svc/proto";
import { verified } from "@svc/service/verified";
import { readParts } from "../context/check.ts";
import type { SubmissionDeps } from "./deps.ts";
import type { SubmissionRow } from "./row.ts";
import { getSubmission } from "./store.ts";

type Deps = Pick<SubmissionDeps, "db" | "contexts" | "byteTransfers">;

/** builds.submission.download-context */
export const downloadContext =
  (deps: Deps): Handler<typeof submissions.downloadContext> =>
  async (context, { id }) => {
    const { row, sha256 } = await findContext(deps, id);
    context.reply.byteTransfer = transferOf(deps, row, {
      "Content-Disposition": `attachment; filename="${id}.tar.gz"`,
      "X-Svc-Context-Sha256": sha256,
    });
    return null;
  };

/** builds.submission.fetch-context */
export const fetchContext =
  (deps: Deps): Handler<typeof submissions.fetchContext> =>
  async (context, { id }) => {
    const { row } = await findContext(deps, id);
    context.reply.byteTransfer = transferOf(deps, row, {});
    return null;
  };

/** A submission with its context; throws `not_found` when it has none. */
export async function findContext({ db }: Pick<Deps, "db">, id: string) {
  const row = await getSubmission(db, id);
  const { context_sha256: sha256, context_index: index } = row;
  if (sha256 === null || index === null) {
    throw new Fault("not_found", { message: "This submission has no context." });
  }
  return { row, sha256, index };
}

export function transferOf(
  { contexts, byteTransfers }: Pick<Deps, "contexts" | "byteTransfers">,
  row: SubmissionRow,
  headers: Record<string, string>,
) {
  const bytes = Number(row.context_bytes);
  const expected = { size: bytes, sha256: row.context_sha256 ?? "" };
  return byteTransfers.download({
    headers: { "Content-Type": "application/gzip", "Content-Length": String(bytes), ...headers },
    source: (signal) =>
      verified(readParts(contexts, row.context_parts, signal), expected, ({ problem }) => {
        return new Error(`the stored context of ${row.id} is not what was recorded: ${problem}`);
      }),
  });
}
