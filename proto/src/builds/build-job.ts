// What builds asks of a build's Job, and what its steps answer (docs/reference/builds.md#job).
// Each step is one container. Steps of the platform's own image run `build-agent STEP`; the steps `build`, `scan` and
// `sbom` may run other images, so what they get and leave behind is files at fixed places and nothing else:
//
//   /context   the unpacked context; the Dockerfile is at its root
//   /image     `image.tar`: the built image, as an OCI archive
//   /reports   `report.json`: the scanner's report of the image; `sbom.cdx.json`: the SBOM
//
// A step that fails writes one line of at most 1,000 characters to its termination message; builds shows it to people.

import { z } from "zod";
import { Sha256Hex, Timestamp } from "../text.ts";
import { ScanPolicy, ScanSummary } from "./scan.ts";

/** Paths inside the containers of a build. */
export const buildPaths = {
  context: "/context",
  imageTar: "/image/image.tar",
  report: "/reports/report.json",
  sbom: "/reports/sbom.cdx.json",
  /** Folder of the mounted one-time token of the documents: file `documents`. */
  secret: "/run/svc/build",
  /** File with the caller token of the internal face, in `context-fetch` alone. */
  callerToken: "/run/svc/caller/token",
  /** File with `user:password` of the registry, in `push` alone. */
  registryCredential: "/run/svc/registry/credential",
} as const;

/** JSON in SVC_BUILD_TASK, the same for every step. */
export const BuildTask = z.strictObject({
  build_id: z.string(),
  /** Where the context is fetched from, on the internal face. */
  context_url: z.url(),
  /** What the bytes must be; absent when the request named none. */
  context_digest: Sha256Hex.optional(),
  limits: z.strictObject({ context_bytes: z.number().int(), context_entries: z.number().int() }),
  /** Host and port of the platform's registry as references name it, and whether it speaks http without TLS. */
  registry: z.strictObject({ host: z.string(), plain_http: z.boolean() }),
  /** Target, in that registry. */
  image_ref: z.string(),
  policy: ScanPolicy,
  database: z.strictObject({
    /** `optional`: a scan without a database of vulnerabilities is judged by its secrets alone. */
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

/** Termination message of the step `push`. */
export const PushResult = z.strictObject({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  bytes: z.number().int().min(0),
});
export type PushResult = z.output<typeof PushResult>;
