import type { submissions } from "@svc/proto";
import type { Selectable } from "kysely";
import type { Settings } from "../config.ts";
import type { ImageBuildsTable, ImageSubmissionsTable } from "../database.ts";

export type SubmissionRow = Selectable<ImageSubmissionsTable>;
/** As lists read it, with its build. */
export type ListedRow = SubmissionRow & {
  build_status: Selectable<ImageBuildsTable>["status"] | null;
  build_error: string | null;
};

/** Address of a context for the Job that builds it. */
export function contextRefOf(settings: Settings, id: string): string {
  return `${settings.builds.internal_url}/api/v1/internal/submissions/${id}/context`;
}

/** The only mapping from a row to the public view. */
export function toSubmission(
  settings: Settings,
  row: SubmissionRow & Partial<ListedRow>,
): submissions.Submission {
  return {
    id: row.id,
    submitted_by: row.submitted_by,
    display_name: row.display_name,
    context_ref: contextRefOf(settings, row.id),
    status: row.status,
    created_at: row.created_at.toISOString(),
    ...(row.context_sha256 !== null && { context_sha256: row.context_sha256 }),
    ...(row.context_bytes !== null && { context_bytes: Number(row.context_bytes) }),
    ...(row.pack_format !== null && { pack_format: row.pack_format }),
    ...(row.image_ref !== null && { image_ref: row.image_ref }),
    ...(row.build_id !== null && { build_id: row.build_id }),
    ...(row.build_status && { build_status: row.build_status }),
    ...(row.build_error && { build_error: row.build_error }),
    ...(row.reviewed_by !== null && { reviewed_by: row.reviewed_by }),
    ...(row.reject_reason !== null && { reject_reason: row.reject_reason }),
    ...(row.reviewed_at && { reviewed_at: row.reviewed_at.toISOString() }),
  };
}

/** Everything that a row names in the context store. */
export function blobsOf(row: Pick<SubmissionRow, "context_parts" | "context_index">): { name: string }[] {
  const { context_parts, context_index } = row;
  return [...context_parts, ...(context_index === null ? [] : [{ name: context_index }])];
}
