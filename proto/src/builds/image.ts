// The image whitelist (docs/reference/images.md#whitelist).
// Vocabulary: entry = a row of the list, `name:tag` or `name:*`; admit = an image may be used by a server;
// pin = the digest that its tag names right now.

import { z } from "zod";
import { cursor, nothing, operation, page, request } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { BaseDigest } from "./build.ts";
import { SeverityCounts } from "./scan.ts";

/** Tags of one repository that are looked at for a version. */
export const maxVersions = 100;

const ImageRef = z.string().min(1).max(512);

/** How an entry came on the list: by a build, by an admin, or with the platform. */
export const ImageSource = z.enum(["built", "external", "recommended"]);
export type ImageSource = z.output<typeof ImageSource>;

/** The last verdict on an image (docs/reference/builds.md#rescan). */
const ImageScan = z.strictObject({
  /** The scan, which is read like a build. */
  build_id: z.string(),
  scanned_at: Timestamp,
  /** Whether it would not be published today. */
  blocked: z.boolean(),
});

/** An image that is allowed or in use, and that today's policy blocks. */
export const FlaggedImage = z.strictObject({
  /** `name:tag@sha256:...` */
  image_ref: z.string(),
  build_id: z.string(),
  scanned_at: Timestamp,
  /** Findings that block, by severity. */
  blocking_counts: SeverityCounts,
});
export type FlaggedImage = z.output<typeof FlaggedImage>;

/** One entry of the whitelist (docs/reference/images.md#whitelist). An entry that is not enabled admits nothing. */
export const Image = z.strictObject({
  image_ref: z.string(),
  source: ImageSource,
  added_by: z.string(),
  enabled: z.boolean(),
  added_at: Timestamp,
  build_id: z.string().optional(),
  /** The last scan of what the tag names; absent before the first, and for images of other registries. */
  scan: ImageScan.optional(),
});
export type Image = z.output<typeof Image>;

export const listImages = operation({
  subject: "builds.image.list",
  http: { method: "GET", path: "/api/v1/images", face: "external", tier: "admin", collect: "images" },
  query: cursor,
  output: page(Image),
  summary: "The images that servers may use, by name.",
  spec: "docs/reference/images.md#whitelist",
});

export const listFlagged = operation({
  subject: "builds.image.list-flagged",
  http: {
    method: "GET",
    path: "/api/v1/images/flagged",
    face: "external",
    tier: "admin",
    collect: "flagged",
  },
  query: cursor,
  output: page(FlaggedImage),
  summary: "Images in use or allowed whose last scan found what blocks them; servers that run them go on.",
  spec: "docs/reference/builds.md#rescan",
});

/** What a newer image could take the place of. */
export const Outdated = z.strictObject({
  /** Built on a base whose tag names another image by now. */
  images: z.array(
    z.strictObject({
      image_ref: z.string(),
      build_id: z.string(),
      moved: z.array(BaseDigest.extend({ now: z.string() })),
      /** A build of the same image that waits or runs. */
      rebuild: z.string().optional(),
    }),
  ),
  /** Servers with an image whose tag names another one by now. */
  servers: z.array(
    z.strictObject({
      server: z.string(),
      image_ref: z.string(),
      /** The tag, which a server takes as its image to be pinned anew. */
      newest: z.string(),
      digest: z.string(),
    }),
  ),
});
export type Outdated = z.output<typeof Outdated>;

export const listOutdated = operation({
  subject: "builds.image.list-outdated",
  http: { method: "GET", path: "/api/v1/images/outdated", face: "external", tier: "admin" },
  output: Outdated,
  faults: ["registry_unavailable"],
  deadlineMs: 20_000,
  summary:
    "Images whose base has moved, and servers on an older digest of their tag; nothing is updated by itself.",
  spec: "docs/reference/builds.md#bases",
});

export const addImage = operation({
  subject: "builds.image.add",
  http: { method: "POST", path: "/api/v1/images", face: "external", tier: "admin", status: 201 },
  body: { image_ref: ImageRef },
  output: Image,
  faults: ["image_not_in_registry", "image_without_provenance", "registry_unavailable"],
  onceById: true,
  summary: "Adds an image to the whitelist: name:tag for one tag, name:* for all of them.",
  spec: "docs/reference/images.md#whitelist",
});

export const removeImage = operation({
  subject: "builds.image.remove",
  http: { method: "DELETE", path: "/api/v1/images", face: "external", tier: "admin", status: 204 },
  query: { ref: ImageRef },
  output: nothing,
  faults: ["not_found"],
  onceById: true,
  summary: "Removes an entry from the whitelist; servers that have the image keep it.",
  spec: "docs/reference/images.md#whitelist",
});

export const listVersions = request({
  subject: "builds.image.list-versions",
  input: { repository: ImageRef },
  output: z.strictObject({
    images: z
      .array(
        z.strictObject({
          image_ref: z.string(),
          /** The label of the image, else its tag: not always the name of a version. */
          version: z.string(),
        }),
      )
      .max(maxVersions),
  }),
  faults: ["registry_unavailable"],
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "The enabled entries of one repository and the version of the game that each runs.",
  spec: "docs/reference/images.md#versions",
});

export const admitImage = request({
  subject: "builds.image.admit",
  input: { image_ref: ImageRef },
  output: z.strictObject({
    /** What a server stores: `name:tag@sha256:...` for an image of the platform's registry, else the given one. */
    image_ref: z.string(),
  }),
  faults: [
    "image_not_whitelisted",
    "image_not_in_registry",
    "image_without_provenance",
    "registry_unavailable",
  ],
  callers: ["lifecycle"],
  idempotent: true,
  summary: "Whether a server may use an image, and the pinned reference to store.",
  spec: "docs/reference/images.md#whitelist",
});
