// Tables of the schema `builds` as kysely sees them; a test compares them with the live schema.

import type { buildJobs, builds, images, packs, scans, submissions } from "@svc/proto";
import type { Db, Trx } from "@svc/store";
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from "kysely";

type DefaultAt = ColumnType<Date, Date | undefined, Date>;

export type ImageWhitelistTable = {
  image_ref: string;
  source: Generated<images.ImageSource>;
  build_id: string | null;
  added_by: string;
  enabled: Generated<boolean>;
  added_at: DefaultAt;
  digest: string | null;
};

type RecurringTasksTable = { name: string; due_at: ColumnType<Date, Date, Date> };
type RecommendedImagesTable = { image_ref: string; seeded_at: DefaultAt };

export type ImageBuildsTable = {
  id: string;
  /** Order of arrival, a decimal number. */
  arrival: GeneratedAlways<string>;
  kind: Generated<builds.BuildKind>;
  image_ref: string;
  status: Generated<builds.BuildStatus>;
  dockerfile: Generated<string>;
  context_ref: string;
  context_digest: string | null;
  base_image: string | null;
  requested_by: string;
  requested_by_id: string | null;
  submission_id: string | null;
  retry_of: string | null;
  job_name: string | null;
  log_ref: string | null;
  error: string | null;
  image_digest: string | null;
  bases: JSONColumnType<buildJobs.BuildResult["bases"], string | undefined, string>;
  steps: JSONColumnType<builds.StepProgress[], string | undefined, string>;
  launched_at: Date | null;
  /** When digest, verdict, provenance and log were recorded; from then on it can only be tagged and end. */
  sealed_at: Date | null;
  documents_token_hashes: Generated<string[]>;
  created_at: DefaultAt;
  started_at: Date | null;
  finished_at: Date | null;
  /** When nothing secret of an ended build was left in the cluster. */
  cleaned_at: Date | null;
};

type ImageBuildScansTable = {
  build_id: string;
  blocked: boolean;
  summary: JSONColumnType<scans.ScanSummary>;
  report_gz: Buffer | null;
  sbom_gz: Buffer | null;
  scanned_at: Date;
};

type ImageBuildDocumentsTable = {
  build_id: string;
  document: scans.ScanDocument;
  gz: Buffer;
  received_at: DefaultAt;
};

type ImageBuildLogsTable = { build_id: string; gz: Buffer; stored_at: DefaultAt };

type ImageProvenancesTable = {
  build_id: string;
  digest: string;
  manifest_digest: string;
  statement: string;
  created_at: DefaultAt;
};

export type FindingAcceptancesTable = {
  id: string;
  /** Order of arrival, a decimal number. */
  arrival: GeneratedAlways<string>;
  finding_id: string;
  package: string;
  repository: string | null;
  reason: string;
  accepted_by: string;
  accepted_at: DefaultAt;
  expires_at: Date;
};

/** A blob of the context store. */
export type Blob = { name: string; size: number };

export type ImageSubmissionsTable = {
  id: string;
  /** Order of arrival, a decimal number. */
  arrival: GeneratedAlways<string>;
  submitted_by: string;
  submitted_by_id: string;
  display_name: string;
  status: Generated<submissions.SubmissionStatus>;
  image_ref: string | null;
  build_id: string | null;
  context_sha256: string | null;
  /** Bytes, a decimal number. */
  context_bytes: ColumnType<string | null, number | null | undefined, number | null>;
  uploaded_at: Date | null;
  reviewed_by: string | null;
  reject_reason: string | null;
  created_at: DefaultAt;
  reviewed_at: Date | null;
  context_parts: JSONColumnType<Blob[], string | undefined, string>;
  context_index: string | null;
  dockerfile: Generated<string>;
  pack_format: packs.PackFormat | null;
};

type SubmissionPacksTable = { submission_id: string; plan: JSONColumnType<packs.PackPlan, string> };

type SubmissionUploadsTable = {
  submission_id: string;
  parts: JSONColumnType<Blob[], string | undefined, string>;
  received_bytes: ColumnType<number, number | undefined, number>;
  reserved_bytes: ColumnType<number, number | undefined, number>;
  writer: string | null;
  writer_until: Date | null;
  touched_at: DefaultAt;
};

type SubmissionCooldownsTable = { user_id: string; kind: "create" | "upload"; started_at: DefaultAt };

export type SubmissionNoticesTable = {
  id: GeneratedAlways<number>;
  event: string;
  user_id: string;
  kind: string;
  facts: JSONColumnType<Record<string, string>>;
  created_at: DefaultAt;
  due_at: DefaultAt;
  attempts: Generated<number>;
  sent_at: Date | null;
};

export type Tables = {
  finding_acceptances: FindingAcceptancesTable;
  image_builds: ImageBuildsTable;
  image_build_documents: ImageBuildDocumentsTable;
  image_build_logs: ImageBuildLogsTable;
  image_build_scans: ImageBuildScansTable;
  image_provenances: ImageProvenancesTable;
  image_submissions: ImageSubmissionsTable;
  image_whitelist: ImageWhitelistTable;
  recommended_images: RecommendedImagesTable;
  recurring_tasks: RecurringTasksTable;
  submission_cooldowns: SubmissionCooldownsTable;
  submission_notices: SubmissionNoticesTable;
  submission_packs: SubmissionPacksTable;
  submission_uploads: SubmissionUploadsTable;
};

export type BuildsDb = Db<Tables>;
export type BuildsTrx = Trx<Tables>;
