// Where an image comes from (docs/reference/builds.md#provenance).
// Vocabulary: statement = an in-toto statement with a SLSA provenance predicate; subject = the image that it is about.

import { z } from "zod";
import { operation, request } from "../contract.ts";
import { Sha256Hex, Timestamp } from "../text.ts";
import { Program, ScanPolicy, SeverityCounts } from "./scan.ts";

/** Media type of the statement, and the artifact type of the manifest that refers to the image. */
export const provenanceType = "application/vnd.in-toto+json";

export const statementTypes = {
  statement: "https://in-toto.io/Statement/v1",
  predicate: "https://slsa.dev/provenance/v1",
  build: "https://svc.internal/build/v1",
  builder: "https://svc.internal/builder/v1",
} as const;

const digest = z.strictObject({ sha256: Sha256Hex });
const { accepted } = ScanPolicy.shape;

/** How the image was judged. */
const ProvenanceScan = z.strictObject({
  scanned_at: Timestamp,
  scanner: Program.optional(),
  /** Absent when the scanner had no database of vulnerabilities. */
  database_at: Timestamp.optional(),
  blocked: z.boolean(),
  policy: ScanPolicy.omit({ accepted: true }).extend({
    accepted: z.array(accepted.unwrap().element.omit({ id: true, by: true })).optional(),
  }),
  counts: SeverityCounts,
});

/** in-toto Statement v1 with the predicate SLSA provenance v1. */
export const ProvenanceStatement = z.strictObject({
  _type: z.literal(statementTypes.statement),
  /** The image without its tag, by the digest of its manifest. */
  subject: z.array(z.strictObject({ name: z.string(), digest })).length(1),
  predicateType: z.literal(statementTypes.predicate),
  predicate: z.strictObject({
    buildDefinition: z.strictObject({
      buildType: z.literal(statementTypes.build),
      externalParameters: z.strictObject({
        image_ref: z.string(),
        requested_by: z.string(),
        submission_id: z.string().optional(),
      }),
      /** The context first, then the bases of the registry. */
      resolvedDependencies: z.array(z.strictObject({ uri: z.string(), digest })),
    }),
    runDetails: z.strictObject({
      builder: z.strictObject({
        id: z.literal(statementTypes.builder),
        /** Versions of svc and of the program that built the image, by name. */
        version: z.record(z.string(), z.string()),
      }),
      metadata: z.strictObject({ invocationId: z.string(), startedOn: Timestamp, finishedOn: Timestamp }),
      svc_scan: ProvenanceScan,
    }),
  }),
});
export type ProvenanceStatement = z.output<typeof ProvenanceStatement>;

export const Provenance = z.strictObject({
  build_id: z.string(),
  /** Digest of the manifest in the registry that has the statement and refers to the image. */
  manifest_digest: z.string(),
  statement: ProvenanceStatement,
});
export type Provenance = z.output<typeof Provenance>;

const spec = "docs/reference/builds.md#provenance";

export const readProvenance = operation({
  subject: "builds.provenance.read",
  http: {
    method: "GET",
    path: "/api/v1/images/build/{id}/provenance",
    face: "external",
    tier: "admin",
  },
  params: { id: z.string().max(64) },
  output: Provenance,
  faults: ["not_found", "provenance_not_found"],
  summary: "Who built the image of what and with what, and how it was judged, as an in-toto statement.",
  spec,
});

export const findProvenance = request({
  subject: "builds.provenance.find",
  input: { image_ref: z.string().min(1).max(512) },
  output: Provenance,
  faults: ["image_not_in_registry", "provenance_not_found", "registry_unavailable"],
  callers: ["operator"],
  idempotent: true,
  summary: "The provenance of what an image of the platform's registry names now.",
  spec,
});
