// What builds asks of a build's Job, and what its steps answer (docs/reference/builds.md#job).
// Each step is one container. It is run with its name and the folders that it mounts as arguments, for example
// `scan-gate --image=/image --reports=/reports --secret=/run/svc/build --tmp=/tmp`, behind the command of its image
// (`build-agent` in the platform's own; `build`, `scan` and `sbom` may have other images). Only these arguments say where
// a folder is: on an embedded cluster they name other places.
//
// A step that fails writes one line of at most 1,000 characters to its termination message (SVC_TERMINATION_LOG, else
// /dev/termination-log); builds shows it to people.

import { z } from "zod";
import { Sha256Hex, Timestamp } from "../text.ts";
import { BaseDigest, type BuildStep } from "./build.ts";
import { Program, ScanPolicy, ScanSummary } from "./scan.ts";

export { type PackDownload, PackPlan, packFiles } from "./pack.ts";

/** Folders of a build's containers: the argument's name, and where it is mounted. */
export const buildFolders = {
  /** The unpacked context; the Dockerfile is at its root. */
  context: "/context",
  image: "/image",
  reports: "/reports",
  /** The one-time token of the documents, in `scan-gate` alone. */
  secret: "/run/svc/build",
  /** The caller token of the internal face, in `context-fetch` alone. */
  caller: "/run/svc/caller",
  /** `user:password` of the registry, in `push` alone; absent when the installation has none. */
  registry: "/run/svc/registry",
  /** Scratch space of one step. */
  tmp: "/tmp",
} as const;
export type BuildFolder = keyof typeof buildFolders;

/** Which folders a step gets; it may write to all of them but those in `reads`. */
export const stepFolders: Record<
  BuildStep,
  { reads: readonly BuildFolder[]; writes: readonly BuildFolder[] }
> = {
  "egress-gate": { reads: [], writes: [] },
  "context-fetch": { reads: ["caller"], writes: ["context", "tmp"] },
  build: { reads: [], writes: ["context", "image", "tmp"] },
  pull: { reads: [], writes: ["image"] },
  scan: { reads: ["image"], writes: ["reports", "tmp"] },
  sbom: { reads: ["image"], writes: ["reports", "tmp"] },
  "scan-gate": { reads: ["image", "reports", "secret"], writes: ["tmp"] },
  push: { reads: ["image", "registry"], writes: ["tmp"] },
};

/** Files in those folders. */
export const buildFiles = {
  /** In `image`: the built image, as an OCI archive. */
  imageTar: "image.tar",
  /** In `reports`: the scanner's report of the image, and the SBOM, which may be missing. */
  report: "report.json",
  sbom: "sbom.cdx.json",
  /** In `reports`: `{updated_at}` of the scanner's database of vulnerabilities; missing when the scan had none. */
  database: "database.json",
  /** In `reports`: the `Program` that scanned; missing when it does not say. */
  scanner: "scanner.json",
  /** In `secret`, `caller` and `registry`. */
  documentsToken: "documents",
  callerToken: "token",
  registryCredential: "credential",
} as const;

/** Begins the name of each repository that holds layers for later builds (docs/reference/builds.md#cache). */
export const layerCachePrefix = "build-cache/";

/**
 * The tag under which a build pushes its image. The tag that was asked for is given by builds, once all that is known of the
 * image has been recorded.
 */
export const pushTagOf = (buildId: string): string => `build-${buildId}`;
export const isPushTag = (tag: string): boolean => /^build-[0-9a-f]{32}$/.test(tag);

/** JSON in SVC_BUILD_TASK, the same for every step. */
export const BuildTask = z.strictObject({
  build_id: z.string(),
  /** Where the context is fetched from, on the internal face; of a scan, which has none, that face. */
  context_url: z.url(),
  /** What the bytes must be; absent when the request named none. */
  context_digest: Sha256Hex.optional(),
  limits: z.strictObject({ context_bytes: z.number().int(), context_entries: z.number().int() }),
  /** Of a context that was made of a pack: what `context-fetch` may download of its `pack.json`. */
  downloads: z
    .strictObject({
      /** Hosts, with their port unless it is 443. */
      hosts: z.array(z.string()),
      files: z.number().int(),
      bytes: z.number().int(),
    })
    .optional(),
  /** Host and port of the platform's registry as references name it, and whether it speaks http without TLS. */
  registry: z.strictObject({ host: z.string(), plain_http: z.boolean() }),
  /** Repository of that registry with layers of earlier builds of the same author; absent = none is used and none kept. */
  layer_cache: z.string().optional(),
  /** Target, in that registry; of a scan, the image. */
  image_ref: z.string(),
  /** Of a scan: the manifest that `pull` fetches. */
  image_digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional(),
  policy: ScanPolicy,
  database: z.strictObject({
    /** `optional`: a scan without a database of vulnerabilities is decided by its secrets alone. */
    need: z.enum(["required", "optional"]),
    max_age_ms: z.number().int(),
  }),
  /** `<this>/report` and `<this>/sbom` take the documents. */
  documents_url: z.url(),
});
export type BuildTask = z.output<typeof BuildTask>;

/** Begins the line of the log of `scan-gate` that holds the `Verdict`. */
export const verdictMark = "svc-verdict ";

/** What the step `scan-gate` found; its exit code is 0, 1 for a blocked image or 2 for a report that can't be judged. */
export const Verdict = z.strictObject({ scanned_at: Timestamp, summary: ScanSummary });
export type Verdict = z.output<typeof Verdict>;

/** Termination message of the step `context-fetch`. */
export const ContextResult = z.strictObject({
  context_digest: Sha256Hex,
  /** What the images in its Dockerfile named, as a step says that runs nothing of it; an older agent says none. */
  bases: z.array(BaseDigest).max(8).optional(),
  /** What this image would build with; counts where the step `build` has the same image. */
  builder: Program.optional(),
});
export type ContextResult = z.output<typeof ContextResult>;

/** Termination message of the step `build`. */
export const BuildResult = z.strictObject({
  /** Counts only where `ContextResult` has none: a RUN line could reach this message. */
  bases: z.array(BaseDigest).max(8),
  /** For builds of the release before. */
  builder: Program.optional(),
});
export type BuildResult = z.output<typeof BuildResult>;

/** Termination message of the step `push`. */
export const PushResult = z.strictObject({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  bytes: z.number().int().min(0),
  /** The tag under which it is there; an older agent has pushed it under that of the image. */
  tag: z.string().optional(),
  /** Of those, what the registry had from earlier builds. */
  reused_bytes: z.number().int().min(0).optional(),
});
export type PushResult = z.output<typeof PushResult>;
