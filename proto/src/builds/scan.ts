// What a scan of a built image found (docs/reference/builds.md#scan).
// Vocabulary: finding = one vulnerability or secret; blocking = a finding for which the policy refuses the image;
// document = the scanner's whole report, or the SBOM.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

export const Severity = z.enum(["CRITICAL", "HIGH", "MEDIUM", "LOW", "UNKNOWN"]);
export type Severity = z.output<typeof Severity>;

const count = z.number().int().min(0);
/** Findings by severity; a severity without any is left out. */
export const SeverityCounts = z.partialRecord(Severity, count);

/** Which findings block an image (docs/reference/builds.md#policy). */
export const ScanPolicy = z.strictObject({
  fail_on: z.array(Severity),
  /** Whether a vulnerability without a fix blocks too. */
  fail_unfixed: z.boolean(),
  /** Ids of vulnerabilities and of secret rules that are accepted as known risks. */
  accept: z.array(z.string()).optional(),
  /** Acceptances of operators that apply to the image (docs/reference/builds.md#acceptances). */
  accepted: z
    .array(
      z.strictObject({
        id: z.string(),
        finding_id: z.string(),
        /** The package of a vulnerability; the file of a secret. */
        package: z.string(),
        by: z.string(),
        until: Timestamp,
      }),
    )
    .optional(),
});
export type ScanPolicy = z.output<typeof ScanPolicy>;

export const ScanFinding = z.strictObject({
  id: z.string(),
  kind: z.enum(["vulnerability", "secret"]),
  severity: Severity,
  /** File or layer. */
  target: z.string(),
  blocking: z.boolean(),
  package: z.string().optional(),
  installed: z.string().optional(),
  fixed: z.string().optional(),
  title: z.string().optional(),
  accepted: z.literal(true).optional(),
  /** By whom and until when; absent where the settings accept it. */
  acceptance: z.strictObject({ id: z.string(), by: z.string(), until: Timestamp }).optional(),
});
export type ScanFinding = z.output<typeof ScanFinding>;

/** The documents of a scan. */
export const ScanDocument = z.enum(["report", "sbom"]);
export type ScanDocument = z.output<typeof ScanDocument>;

/** Most bytes of both documents of one image together, compressed (docs/reference/builds.md#documents). */
export const scanDocumentBytes = 6 * 1_048_576;

/** A program that took part in a build. */
export const Program = z.strictObject({ name: z.string().max(100), version: z.string().max(100) });
export type Program = z.output<typeof Program>;

export const ScanSummary = z.strictObject({
  policy: ScanPolicy,
  /** A blocked image is never pushed. */
  blocked: z.boolean(),
  packages: count,
  /** Accepted findings count here, not in `blocking_counts`. */
  counts: SeverityCounts,
  blocking_counts: SeverityCounts,
  /** Blocking ones first, then the most severe first. */
  findings: z.array(ScanFinding).max(100),
  omitted: z.array(ScanDocument).optional(),
  scanner: Program.optional(),
  /** When the scanner's database of vulnerabilities was made; absent when the scan had none and only looked for secrets. */
  database_at: Timestamp.optional(),
});
export type ScanSummary = z.output<typeof ScanSummary>;

export const BuildScan = z.strictObject({
  build_id: z.string(),
  scanned_at: Timestamp,
  summary: ScanSummary,
  has_report: z.boolean(),
  has_sbom: z.boolean(),
});
export type BuildScan = z.output<typeof BuildScan>;

const admin = { face: "external", tier: "admin", method: "GET" } as const;
const params = { id: z.string().max(64) };
const spec = "docs/reference/builds.md#scan";

export const readScan = operation({
  subject: "builds.scan.read",
  http: { ...admin, path: "/api/v1/images/build/{id}/scan" },
  params,
  output: BuildScan,
  faults: ["not_found", "scan_not_found"],
  summary: "What the scan of a build found, and the policy that judged it.",
  spec,
});

export const downloadReport = operation({
  subject: "builds.scan.download-report",
  http: { ...admin, path: "/api/v1/images/build/{id}/scan/report", kind: "download" },
  params,
  output: z.unknown(),
  faults: ["not_found", "scan_not_found", "scan_document_not_kept"],
  summary: "The scanner's whole report, as JSON.",
  spec,
});

export const downloadSbom = operation({
  subject: "builds.scan.download-sbom",
  http: { ...admin, path: "/api/v1/images/build/{id}/sbom", kind: "download" },
  params,
  output: z.unknown(),
  faults: ["not_found", "scan_not_found", "scan_document_not_kept"],
  summary: "The software bill of materials of the built image, as CycloneDX JSON.",
  spec,
});
