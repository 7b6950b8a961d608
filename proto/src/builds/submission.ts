// Players' own packs: uploaded, reviewed by digest, then built (docs/reference/submissions.md#states).
// Vocabulary: submission = one pack in review; context = its gzip tarball; staged = received in parts, not yet checked;
// review = approving or rejecting the context whose digest the reviewer saw.

import { z } from "zod";
import { operation } from "../contract.ts";
import { ByteCount, paging, Sha256Hex, Timestamp } from "../text.ts";
import { BuildStatus } from "./build.ts";
import { PackDownload, PackFormat, PackLeftOut, PackSummary } from "./pack.ts";

export const SubmissionStatus = z.enum(["pending_review", "approved", "rejected"]);
export type SubmissionStatus = z.output<typeof SubmissionStatus>;

/** One pack in review. The author gives only its name. */
export const Submission = z.strictObject({
  id: z.string(),
  submitted_by: z.string(),
  display_name: z.string(),
  /** Internal address of the context. */
  context_ref: z.string(),
  status: SubmissionStatus,
  created_at: Timestamp,
  /** Absent until a context was uploaded. An approval must name it. */
  context_sha256: Sha256Hex.optional(),
  /** Bytes of the context, compressed. */
  context_bytes: z.number().int().min(0).optional(),
  /** Of a context that was made of a pack without a Dockerfile. */
  pack_format: PackFormat.optional(),
  /** Set at the approval. */
  image_ref: z.string().optional(),
  build_id: z.string().optional(),
  /** Of the build; attached by lists and by reads of one submission. */
  build_status: BuildStatus.optional(),
  build_error: z.string().optional(),
  reviewed_by: z.string().optional(),
  reject_reason: z.string().optional(),
  reviewed_at: Timestamp.optional(),
});
export type Submission = z.output<typeof Submission>;

const count = z.number().int().min(0);
export const SubmissionPage = z.strictObject({
  submissions: z.array(Submission),
  total: count,
  /** Of all that the caller may see, whatever is searched for. */
  counts: z.strictObject({ pending_review: count, approved: count, rejected: count }),
});
export type SubmissionPage = z.output<typeof SubmissionPage>;

const mebibyte = 1_048_576;
/** Most bytes of one part (docs/reference/submissions.md#upload). */
export const contextPartBytes = 32 * mebibyte;

/** A context that comes in parts. */
export const ContextUploadProgress = z.strictObject({
  /** The next part starts here. */
  received: ByteCount,
  part_max_bytes: ByteCount,
  max_context_bytes: ByteCount,
});
export type ContextUploadProgress = z.output<typeof ContextUploadProgress>;

const own = { face: "external", tier: "app" } as const;
const admin = { face: "external", tier: "admin" } as const;
const id = { id: z.string().max(64) };
const mine = "/api/v1/me/submissions";
const all = "/api/v1/submissions";
const listing = {
  status: SubmissionStatus.optional(),
  query: z.string().max(256).optional(),
  ...paging,
};
const bodyHead = { content_digest: z.string().max(1_024).optional(), content_length: ByteCount };
const digests = ["digest_required", "bad_digest", "digest_mismatch"] as const;
const room = ["submission_quota_exceeded", "uploads_full", "uploads_store_unavailable"] as const;

export const create = operation({
  subject: "builds.submission.create",
  http: { ...own, method: "POST", path: mine, status: 201 },
  body: { display_name: z.string().max(1_024) },
  output: Submission,
  faults: ["submission_cooldown", ...room],
  onceById: true,
  summary: "Makes a submission; its context is uploaded next. Nothing is built before it is approved.",
  spec: "docs/reference/submissions.md#states",
});

export const listOwn = operation({
  subject: "builds.submission.list-own",
  http: { ...own, method: "GET", path: mine },
  query: listing,
  output: SubmissionPage,
  summary: "The caller's submissions, the newest first.",
  spec: "docs/reference/submissions.md#lists",
});

export const readOwn = operation({
  subject: "builds.submission.read-own",
  http: { ...own, method: "GET", path: `${mine}/{id}` },
  params: id,
  output: Submission,
  faults: ["not_found"],
  summary: "One of the caller's submissions; somebody else's is not found.",
  spec: "docs/reference/submissions.md#lists",
});

export const readLimits = operation({
  subject: "builds.submission.read-limits",
  http: { ...own, method: "GET", path: `${mine}/limits` },
  output: z.strictObject({ max_context_bytes: ByteCount }),
  summary: "How large a context may be.",
  spec: "docs/reference/submissions.md#limits",
});

export const uploadContext = operation({
  subject: "builds.submission.upload-context",
  http: {
    ...own,
    method: "POST",
    path: `${mine}/{id}/context`,
    kind: "upload",
    upload: { maxBytes: Number.POSITIVE_INFINITY, contentTypes: ["application/gzip", "application/zip"] },
  },
  params: id,
  headers: bodyHead,
  output: Submission,
  faults: ["not_found", "already_reviewed", "upload_busy", "submission_cooldown", ...digests, ...room],
  deadlineMs: 60_000,
  summary: "Uploads the context in one request; an earlier one stays until this one is whole and checked.",
  spec: "docs/reference/submissions.md#upload",
});

const parts = `${mine}/{id}/context/upload`;

export const readContextUpload = operation({
  subject: "builds.submission.read-context-upload",
  http: { ...own, method: "GET", path: parts },
  params: id,
  output: ContextUploadProgress,
  faults: ["not_found", "already_reviewed"],
  summary: "How much of the context is staged; the next part starts there.",
  spec: "docs/reference/submissions.md#upload",
});

export const putContextPart = operation({
  subject: "builds.submission.put-context-part",
  http: {
    ...own,
    method: "PUT",
    path: parts,
    kind: "upload",
    upload: {
      maxBytes: contextPartBytes,
      tooLarge: "part_too_large",
      contentTypes: ["application/octet-stream"],
    },
  },
  params: id,
  query: { offset: ByteCount },
  headers: bodyHead,
  output: ContextUploadProgress,
  faults: [
    "not_found",
    "already_reviewed",
    "upload_offset_mismatch",
    "upload_busy",
    "part_too_large",
    ...digests,
    ...room,
  ],
  summary: "Adds a part of up to 32 MiB, whole or not at all; offset 0 begins again.",
  spec: "docs/reference/submissions.md#upload",
});

export const completeContextUpload = operation({
  subject: "builds.submission.complete-context-upload",
  http: { ...own, method: "POST", path: `${parts}/complete` },
  params: id,
  output: Submission,
  faults: ["not_found", "already_reviewed", "upload_busy", "submission_cooldown", ...room],
  deadlineMs: 60_000,
  summary: "Checks what was staged and makes it the context of the submission.",
  spec: "docs/reference/submissions.md#upload",
});

export const withdraw = operation({
  subject: "builds.submission.withdraw",
  http: { ...own, method: "DELETE", path: `${mine}/{id}` },
  params: id,
  output: Submission,
  faults: ["not_found", "already_reviewed"],
  onceById: true,
  summary: "Withdraws a submission that nobody has reviewed; its context is deleted.",
  spec: "docs/reference/submissions.md#states",
});

export const list = operation({
  subject: "builds.submission.list",
  http: { ...admin, method: "GET", path: all },
  query: listing,
  output: SubmissionPage,
  summary: "Everybody's submissions, the newest first.",
  spec: "docs/reference/submissions.md#lists",
});

export const read = operation({
  subject: "builds.submission.read",
  http: { ...admin, method: "GET", path: `${all}/{id}` },
  params: id,
  output: Submission,
  faults: ["not_found"],
  summary: "One submission.",
  spec: "docs/reference/submissions.md#lists",
});

export const approve = operation({
  subject: "builds.submission.approve",
  http: { ...admin, method: "POST", path: `${all}/{id}/approve` },
  params: id,
  body: { expected_digest: Sha256Hex },
  output: Submission,
  faults: ["not_found", "already_reviewed", "context_changed", "registry_unavailable"],
  onceById: true,
  summary: "Approves the context of this digest and starts its build.",
  spec: "docs/reference/submissions.md#review",
});

export const reject = operation({
  subject: "builds.submission.reject",
  http: { ...admin, method: "POST", path: `${all}/{id}/reject` },
  params: id,
  body: { reason: z.string().max(4_096) },
  output: Submission,
  faults: ["not_found", "already_reviewed"],
  onceById: true,
  summary: "Rejects a submission and tells its author why.",
  spec: "docs/reference/submissions.md#review",
});

export const remove = operation({
  subject: "builds.submission.remove",
  http: { ...admin, method: "DELETE", path: `${all}/{id}` },
  params: id,
  output: Submission,
  faults: ["not_found"],
  onceById: true,
  summary: "Deletes a submission of any state with its context; what was built of it stays.",
  spec: "docs/reference/submissions.md#review",
});

export const downloadContext = operation({
  subject: "builds.submission.download-context",
  http: { ...admin, method: "GET", path: `${all}/{id}/context`, kind: "download" },
  params: id,
  output: z.unknown(),
  faults: ["not_found"],
  summary: "The uploaded context; cut short when its bytes are no longer those of its digest.",
  spec: "docs/reference/submissions.md#review",
});

export const fetchContext = operation({
  subject: "builds.submission.fetch-context",
  http: {
    method: "GET",
    path: "/api/v1/internal/submissions/{id}/context",
    face: "internal",
    tier: "service",
    callers: ["build"],
    kind: "download",
  },
  params: id,
  output: z.unknown(),
  faults: ["not_found"],
  summary: "Gives the context to the Job that builds it.",
  spec: "docs/reference/builds.md#steps",
});

/** One entry of a context, and what became of it since the author's last approved pack. */
export const ContextEntry = z.strictObject({
  path: z.string(),
  kind: z.enum(["file", "folder", "link"]),
  /** Bytes of a file. */
  size: ByteCount,
  /** Where a link leads. */
  target: z.string().optional(),
  sha256: Sha256Hex.optional(),
  /** `removed` ones are only in the earlier context. */
  change: z.enum(["same", "added", "changed", "removed"]),
});
export type ContextEntry = z.output<typeof ContextEntry>;

export const listContextEntries = operation({
  subject: "builds.submission.list-context-entries",
  http: { ...admin, method: "GET", path: `${all}/{id}/context/entries` },
  params: id,
  query: {
    /** Entries of this folder alone; without it all, flat. Empty for the root. */
    folder: z.string().max(4_096).optional(),
    change: ContextEntry.shape.change.optional(),
    query: z.string().max(256).optional(),
    ...paging,
  },
  output: z.strictObject({
    entries: z.array(ContextEntry),
    total: count,
    counts: z.strictObject({ same: count, added: count, changed: count, removed: count }),
    /** What it is compared with: the author's last approved pack; absent when there is none. */
    compared_with: z
      .strictObject({ id: z.string(), display_name: z.string(), context_sha256: Sha256Hex })
      .optional(),
    /** Digest of the context that is listed; an approval must name it. */
    context_sha256: Sha256Hex,
  }),
  faults: ["not_found"],
  deadlineMs: 20_000,
  summary: "The files of a context by path, and what differs from the author's last approved one.",
  spec: "docs/reference/submissions.md#review",
});

export const readContextFile = operation({
  subject: "builds.submission.read-context-file",
  http: { ...admin, method: "GET", path: `${all}/{id}/context/file` },
  params: id,
  query: { path: z.string().min(1).max(4_096) },
  output: z.strictObject({
    path: z.string(),
    size: ByteCount,
    /** Absent for a file that is not text or is larger than 256 KiB. */
    text: z.string().optional(),
    /** As it was in the author's last approved pack. */
    previous: z.string().optional(),
  }),
  faults: ["not_found"],
  deadlineMs: 20_000,
  summary: "One file of a context as text, the Dockerfile for one, with its earlier version.",
  spec: "docs/reference/submissions.md#review",
});

/** What became of a pack without a Dockerfile (docs/reference/submissions.md#packs). */
export const Pack = PackSummary.extend({
  /** As it was made from the operator's template when the upload was complete; it is at the root of the context. */
  dockerfile: z.string(),
  /** One page of the files that the build fetches. */
  downloads: z.array(PackDownload),
  downloads_total: count,
  download_bytes: ByteCount,
  /** Hosts of all their addresses. */
  hosts: z.array(z.string()),
  /** The first 200. */
  left_out: z.array(PackLeftOut),
  left_out_total: count,
});
export type Pack = z.output<typeof Pack>;

const readsPack = { params: id, query: paging, output: Pack, faults: ["not_found"] } as const;

export const readPack = operation({
  subject: "builds.submission.read-pack",
  http: { ...admin, method: "GET", path: `${all}/{id}/pack` },
  ...readsPack,
  summary: "The Dockerfile and the downloads that a pack without a Dockerfile became.",
  spec: "docs/reference/submissions.md#packs",
});

export const readOwnPack = operation({
  subject: "builds.submission.read-own-pack",
  http: { ...own, method: "GET", path: `${mine}/{id}/pack` },
  ...readsPack,
  summary: "The same of one of the caller's own submissions.",
  spec: "docs/reference/submissions.md#packs",
});
