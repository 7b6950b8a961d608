// Image builds (docs/reference/builds.md#states).
// Vocabulary: build = one run of a recipe into an image of the platform's registry; context = the gzip tarball it is
// made of, with the Dockerfile at its root; step = one container of the build's Job.

import { z } from "zod";
import { event, nothing, oneTimeToken, operation } from "../contract.ts";
import { paging, Sha256Hex, Timestamp } from "../text.ts";
import { ScanDocument, scanDocumentBytes } from "./scan.ts";

export const BuildStatus = z.enum(["pending", "building", "succeeded", "failed", "cancelled"]);
export type BuildStatus = z.output<typeof BuildStatus>;

/** The steps in the order in which they run; each is a container of that name (docs/reference/builds.md#steps). */
export const BuildStep = z.enum([
  "egress-gate",
  "context-fetch",
  "build",
  "pull",
  "scan",
  "sbom",
  "scan-gate",
  "push",
]);
export type BuildStep = z.output<typeof BuildStep>;

/** What a run is for: a new image, or another verdict on an image that exists (docs/reference/builds.md#rescan). */
export const BuildKind = z.enum(["build", "scan"]);
export type BuildKind = z.output<typeof BuildKind>;

/** The steps of each kind. */
export const stepsOfKind: Record<BuildKind, readonly BuildStep[]> = {
  build: ["egress-gate", "context-fetch", "build", "scan", "sbom", "scan-gate", "push"],
  scan: ["egress-gate", "pull", "scan", "sbom", "scan-gate"],
};

/** One step of one build; `skipped` when the installation has no use for it or an earlier one failed. */
export const StepProgress = z.strictObject({
  name: BuildStep,
  state: z.enum(["pending", "running", "succeeded", "failed", "skipped"]),
  startedAt: Timestamp.optional(),
  finishedAt: Timestamp.optional(),
});
export type StepProgress = z.output<typeof StepProgress>;

/** An image that others are built FROM, and what its tag named then. */
export const BaseDigest = z.strictObject({
  image_ref: z.string().max(512),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});

/** How far a build is; percent and end are learned from earlier builds (docs/reference/builds.md#progress). */
export const BuildProgress = z.strictObject({
  step: BuildStep.optional(),
  steps: z.array(StepProgress),
  percent: z.number().int().min(0).max(100),
  /** Expected end; absent while no earlier build tells. */
  eta: Timestamp.optional(),
});
export type BuildProgress = z.output<typeof BuildProgress>;

/** One build as it is stored. Lists leave `dockerfile` out; only a single build has `progress`. */
export const Build = z.strictObject({
  id: z.string(),
  /** Absent for a build. A scan has succeeded when it has a verdict, whatever that says. */
  kind: z.literal("scan").optional(),
  image_ref: z.string(),
  status: BuildStatus,
  requested_by: z.string(),
  created_at: Timestamp,
  /** A record of what was asked; what runs is the Dockerfile in the context. */
  dockerfile: z.string().optional(),
  context_ref: z.string().optional(),
  context_digest: Sha256Hex.optional(),
  base_image: z.string().optional(),
  job_name: z.string().optional(),
  log_ref: z.string().optional(),
  /** Names the step and the cause. */
  error: z.string().optional(),
  finished_at: Timestamp.optional(),
  /** Digest of the image as it was pushed, `sha256:...`. */
  image_digest: z.string().optional(),
  /** Images of the platform's registry that it was built FROM. */
  bases: z.array(BaseDigest).optional(),
  submission_id: z.string().optional(),
  /** The build that this one repeats. */
  retry_of: z.string().optional(),
  progress: BuildProgress.optional(),
});
export type Build = z.output<typeof Build>;

const admin = { face: "external", tier: "admin" } as const;
const id = { id: z.string().max(64) };
const builds = "/api/v1/images/build";

export const startBuild = operation({
  subject: "builds.build.start",
  http: { ...admin, method: "POST", path: builds, status: 202 },
  body: {
    /** Its target in the platform's registry, `host/repository:tag`. */
    image_ref: z.string().min(1).max(512),
    dockerfile: z.string().max(65_536),
    /** The internal address of a submission's context. */
    context_ref: z.string().min(1).max(1_024),
    context_digest: Sha256Hex.optional(),
    base_image: z.string().max(512).optional(),
  },
  output: Build,
  faults: ["registry_unavailable"],
  onceById: true,
  summary: "Starts a build of an uploaded context; it waits while others fill the limit.",
  spec: "docs/reference/builds.md#states",
});

export const listBuilds = operation({
  subject: "builds.build.list",
  http: { ...admin, method: "GET", path: builds },
  query: { query: z.string().max(256).optional(), kind: BuildKind.optional(), ...paging },
  output: z.strictObject({ builds: z.array(Build), total: z.number().int().min(0) }),
  summary:
    "Builds, or scans of images that exist, the newest first; `query` is an id, a status or a part of the image's name.",
  spec: "docs/reference/builds.md#states",
});

export const readBuild = operation({
  subject: "builds.build.read",
  http: { ...admin, method: "GET", path: `${builds}/{id}` },
  params: id,
  output: Build,
  faults: ["not_found"],
  summary: "One build with its progress.",
  spec: "docs/reference/builds.md#progress",
});

export const watchLog = operation({
  subject: "builds.build.watch-log",
  http: { ...admin, method: "GET", path: `${builds}/{id}/logs`, kind: "events" },
  params: id,
  /** `end`, the id of the last event, when a viewer has seen it; else unix seconds. */
  headers: { last_event_id: z.string().max(64).optional() },
  output: nothing,
  faults: ["bad_id", "not_found", "too_many_streams"],
  summary: "The log of all steps, live or stored; `event: step` between lines, `event: end` at the end.",
  spec: "docs/reference/builds.md#log",
});

export const cancelBuild = operation({
  subject: "builds.build.cancel",
  http: { ...admin, method: "POST", path: `${builds}/{id}/cancel` },
  params: id,
  output: Build,
  faults: ["not_found", "build_finished"],
  onceById: true,
  summary: "Cancels a build that waits or runs.",
  spec: "docs/reference/builds.md#states",
});

export const retryBuild = operation({
  subject: "builds.build.retry",
  http: { ...admin, method: "POST", path: `${builds}/{id}/retry`, status: 202 },
  params: id,
  output: Build,
  faults: ["not_found", "build_unfinished", "context_changed", "registry_unavailable"],
  onceById: true,
  summary:
    "Builds the same context with the same digest again, or scans again, after it failed or was cancelled.",
  spec: "docs/reference/builds.md#states",
});

export const rebuild = operation({
  subject: "builds.build.rebuild",
  http: { ...admin, method: "POST", path: `${builds}/{id}/rebuild`, status: 202 },
  params: id,
  output: Build,
  faults: ["not_found", "build_unfinished", "context_changed", "registry_unavailable"],
  onceById: true,
  summary: "Builds the kept context of a build that succeeded once more, on what its bases are now.",
  spec: "docs/reference/builds.md#bases",
});

export const receiveDocument = operation({
  subject: "builds.build.receive-document",
  http: {
    method: "PUT",
    path: "/api/v1/internal/builds/{id}/documents/{document}",
    face: "internal",
    tier: "public",
    kind: "upload",
    status: 204,
    bearer: "one-time",
    upload: { lengthRequired: true, maxBytes: scanDocumentBytes, contentTypes: ["application/gzip"] },
  },
  params: { ...id, document: ScanDocument },
  headers: { ...oneTimeToken, content_digest: z.string().max(1_024).optional() },
  output: nothing,
  faults: ["not_found", "digest_required", "bad_digest", "digest_mismatch"],
  summary: "Takes the compressed report or SBOM of a scan from its Job; the token takes each document once.",
  spec: "docs/reference/builds.md#documents",
});

/** Why a build failed; a cause that is longer is cut. */
export const mostCauseChars = 500;

export const buildEnded = event({
  subject: "builds.build.ended",
  data: z.object({
    id: z.string(),
    outcome: z.enum(["succeeded", "failed", "cancelled"]),
    image_ref: z.string(),
    /** Who asked for this build: the author, or who started, retried or rebuilt it. */
    requested_by: z.string(),
    at: z.iso.datetime(),
    /** The submission whose context was built, with the account and the name of its author's pack; absent once it is deleted. */
    submission_id: z.string().optional(),
    owner_id: z.string().optional(),
    display_name: z.string().optional(),
    /** The build that this one repeats. */
    retry_of: z.string().optional(),
    /** Of one that succeeded. */
    digest: z.string().optional(),
    /** Of one that failed: a step of the build, or `provenance`; absent when it failed outside of every step. */
    failed_step: z.string().optional(),
    cause: z.string().optional(),
  }),
  key: (data) => data.id,
  sample: {
    id: "0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
    outcome: "failed",
    image_ref: "registry.example.net/user-uploads/sub-0a1b2c3d4e5f60718293a4b5:latest",
    requested_by: "alice",
    at: "2026-01-01T00:00:00.000Z",
    submission_id: "sub-0a1b2c3d4e5f60718293a4b5",
    owner_id: "usr-1",
    display_name: "Skyblock",
    failed_step: "scan-gate",
    cause: "the scan blocked the image: 1 CRITICAL (CVE-2026-1)",
  },
  summary: "A build of an image succeeded, failed or was cancelled.",
});
