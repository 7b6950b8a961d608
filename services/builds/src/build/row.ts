import type { builds } from "@svc/proto";
import type { Selectable } from "kysely";
import type { ImageBuildsTable } from "../database.ts";

export type BuildRow = Selectable<ImageBuildsTable>;

/** What lists show; the other columns may hold much. */
export const listedColumns = [
  "id",
  "kind",
  "image_ref",
  "status",
  "requested_by",
  "created_at",
  "context_ref",
  "context_digest",
  "base_image",
  "job_name",
  "log_ref",
  "error",
  "finished_at",
  "image_digest",
  "bases",
  "submission_id",
  "retry_of",
] as const satisfies readonly (keyof ImageBuildsTable)[];

export type ListedBuild = Pick<BuildRow, (typeof listedColumns)[number]>;

/** As lists show it. */
export function toBuild(row: ListedBuild): builds.Build {
  return {
    id: row.id,
    ...(row.kind === "scan" && { kind: row.kind }),
    image_ref: row.image_ref,
    status: row.status,
    requested_by: row.requested_by,
    created_at: row.created_at.toISOString(),
    ...(row.context_ref !== "" && { context_ref: row.context_ref }),
    ...(row.context_digest !== null && { context_digest: row.context_digest }),
    ...(row.base_image !== null && { base_image: row.base_image }),
    ...(row.job_name !== null && { job_name: row.job_name }),
    ...(row.log_ref !== null && { log_ref: row.log_ref }),
    ...(row.error !== null && { error: row.error }),
    ...(row.finished_at && { finished_at: row.finished_at.toISOString() }),
    ...(row.image_digest !== null && { image_digest: row.image_digest }),
    ...(row.bases.length > 0 && { bases: row.bases }),
    ...(row.submission_id !== null && { submission_id: row.submission_id }),
    ...(row.retry_of !== null && { retry_of: row.retry_of }),
  };
}
