// Findings that are accepted as known risks (docs/reference/builds.md#acceptances).
// Vocabulary: acceptance = the decision of an operator that a finding does not block until a time.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { paging, Timestamp } from "../text.ts";

const FindingId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
    "must be the id of a vulnerability or the name of a secret rule",
  );

/** One acceptance; from `expires_at` on, the finding blocks again. */
export const Acceptance = z.strictObject({
  id: z.string(),
  finding_id: z.string(),
  /** The package of a vulnerability; the file of a secret. */
  package: z.string(),
  /** `host/name` without a tag; absent = every image. */
  repository: z.string().optional(),
  reason: z.string(),
  accepted_by: z.string(),
  accepted_at: Timestamp,
  expires_at: Timestamp,
});
export type Acceptance = z.output<typeof Acceptance>;

const admin = { face: "external", tier: "admin" } as const;
const acceptances = "/api/v1/images/acceptances";
const spec = "docs/reference/builds.md#acceptances";

export const listAcceptances = operation({
  subject: "builds.acceptance.list",
  http: { ...admin, method: "GET", path: acceptances },
  query: {
    /** Only those of this repository and those of every image. */
    repository: z.string().max(512).optional(),
    ...paging,
  },
  output: z.strictObject({ acceptances: z.array(Acceptance), total: z.number().int().min(0) }),
  summary: "Accepted findings, the newest first; expired ones too until they are removed.",
  spec,
});

export const addAcceptance = operation({
  subject: "builds.acceptance.add",
  http: { ...admin, method: "POST", path: acceptances, status: 201 },
  body: {
    finding_id: FindingId,
    package: z.string().min(1).max(200),
    repository: z.string().max(512).optional(),
    reason: z.string().max(4_096),
    expires_at: Timestamp,
  },
  output: Acceptance,
  faults: ["acceptance_limit"],
  onceById: true,
  summary: "Accepts a finding until a time; one of the same finding, package and repository is replaced.",
  spec,
});

export const removeAcceptance = operation({
  subject: "builds.acceptance.remove",
  http: { ...admin, method: "DELETE", path: `${acceptances}/{id}`, status: 204 },
  params: { id: z.string().max(64) },
  output: nothing,
  faults: ["not_found"],
  onceById: true,
  summary: "Ends an acceptance; the finding blocks from the next build on.",
  spec,
});
