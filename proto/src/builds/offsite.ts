// What ops-watchdog asks of builds to keep off-site copies of images and contexts (docs/reference/off-site.md#images).
// Vocabulary: part = the bytes of a manifest or a blob, named by their digest; wanted = named by the whitelist or a server.

import { z } from "zod";
import { cursor, page, request } from "../contract.ts";
import { Sha256Hex } from "../text.ts";

const callers = ["ops-watchdog", "operator"] as const;
const spec = "docs/reference/off-site.md#images";

const bytes = z.number().int().min(0);
const Repository = z
  .string()
  .regex(/^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/)
  .max(255);
const Tag = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/);
const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** One manifest of one repository. */
export const OffsiteImage = z.strictObject({
  repository: Repository,
  digest: Digest,
  media_type: z.string().max(255),
  size_bytes: bytes,
  tags: z.array(Tag).max(10_000),
  /** Configuration and layers; none of an index. */
  blobs: z.array(z.strictObject({ digest: Digest, size_bytes: bytes })).max(1_001),
  /** Of an index: manifests of the same repository. */
  parts: z.array(Digest).max(1_000),
});
export type OffsiteImage = z.output<typeof OffsiteImage>;

/** The body of the byte transfer of `read-images`. */
export const OffsiteImages = z.strictObject({
  /** False where the installation has no registry. */
  configured: z.boolean(),
  images: z.array(OffsiteImage),
  /** What the whitelist and servers name, whether the registry has it or not; without tag and digest all of a repository. */
  wanted: z.array(
    z.strictObject({ repository: z.string(), tag: z.string().optional(), digest: z.string().optional() }),
  ),
});
export type OffsiteImages = z.output<typeof OffsiteImages>;

export const readImages = request({
  subject: "builds.offsite.read-images",
  input: {},
  output: z.unknown(),
  faults: ["registry_unavailable"],
  callers,
  deadlineMs: 120_000,
  summary:
    "Lists by byte transfer what the registry has of players' and staff's images, and of the platform's own what is pinned.",
  spec,
});

const part = {
  repository: Repository,
  kind: z.enum(["manifest", "blob"]),
  digest: Digest,
  size_bytes: bytes,
};

export const readImagePart = request({
  subject: "builds.offsite.read-image-part",
  input: part,
  output: z.unknown(),
  faults: ["not_found", "registry_unavailable"],
  callers,
  deadlineMs: 30_000,
  summary: "Sends the bytes of a manifest or a blob of the registry by byte transfer.",
  spec,
});

export const writeImagePart = request({
  subject: "builds.offsite.write-image-part",
  input: { ...part, media_type: z.string().max(255).optional() },
  /** True, and no byte transfer, when the registry has it. */
  output: z.strictObject({ in_place: z.boolean() }).nullable(),
  faults: ["registry_unavailable", "digest_mismatch"],
  callers,
  deadlineMs: 30_000,
  summary: "Takes back the bytes of a manifest or a blob that the registry does not have.",
  spec,
});

export const tagImage = request({
  subject: "builds.offsite.tag-image",
  input: { repository: Repository, digest: Digest, tags: z.array(Tag).min(1).max(1_000) },
  output: z.strictObject({
    tagged: z.array(z.string()),
    /** Name another image here; they stay. */
    kept: z.array(z.string()),
  }),
  faults: ["not_found", "registry_unavailable"],
  callers,
  idempotent: true,
  deadlineMs: 120_000,
  summary: "Gives a manifest of the registry its tags again, except those that name another one by now.",
  spec,
});

/** The context of a submission. */
export const OffsiteContext = z.strictObject({
  /** Of the submission. */
  id: z.string().regex(/^sub-[0-9a-f]{24}$/),
  size_bytes: bytes,
  sha256: Sha256Hex,
  /** Whether all files of it are here with their sizes. */
  local: z.enum(["whole", "missing"]),
});
export type OffsiteContext = z.output<typeof OffsiteContext>;

export const listContexts = request({
  subject: "builds.offsite.list-contexts",
  input: cursor,
  output: page(OffsiteContext),
  faults: ["uploads_store_unavailable"],
  callers,
  idempotent: true,
  deadlineMs: 60_000,
  summary: "Every submission that has a context, in order of their ids.",
  spec,
});

const context = { id: OffsiteContext.shape.id };

export const readContext = request({
  subject: "builds.offsite.read-context",
  input: context,
  output: z.unknown(),
  faults: ["not_found"],
  callers,
  deadlineMs: 30_000,
  summary: "Sends the bytes of a context by byte transfer.",
  spec,
});

export const writeContext = request({
  subject: "builds.offsite.write-context",
  input: context,
  output: z.unknown(),
  faults: ["not_found", "digest_mismatch", "uploads_store_unavailable", "uploads_full"],
  callers,
  deadlineMs: 30_000,
  summary:
    "Takes back the bytes of a context whose files are missing; they are stored only when size and digest are those of the submission.",
  spec,
});
