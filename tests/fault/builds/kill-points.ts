// Who is killed at which step of a pack's way from the upload to the whitelist.

import type { Victim } from "./fixture.ts";

export type KillPoint = [step: string, victim: Victim];

/** Each pack goes through all its points in this order; behind a death of builds there is a step of the Job, or a request. */
export const table: readonly KillPoint[][] = [
  [
    ["the submission is written", "builds"],
    ["step context-fetch", "the internal gateway"],
    ["step build", "builds"],
    ["step scan-gate", "NATS"],
    ["step push", "the gate"],
    ["the provenance is written", "builds"],
    ["the image is whitelisted", "builds"],
  ],
  [
    ["the writer's lease is taken", "builds"],
    ["the build is written", "PostgreSQL"],
    ["step context-fetch", "the cluster"],
    ["step scan", "builds"],
    ["a document is written", "PostgreSQL"],
    ["the scan is written", "builds"],
  ],
  [
    ["a blob is stored", "builds"],
    ["the build is written, committed", "builds"],
    ["step context-fetch", "NATS"],
    ["step push", "the registry"],
    ["the build is ended", "builds"],
  ],
  [
    ["the part is added", "PostgreSQL"],
    ["the build is started", "builds"],
    ["step build", "the cluster"],
    ["a document is written", "builds"],
    ["step push", "builds"],
    ["the Secret is removed", "builds"],
  ],
  [
    ["the upload is completed", "builds"],
    ["the token is written", "builds"],
    ["step context-fetch", "builds"],
    ["step scan-gate", "the internal gateway"],
    ["step push", "the cluster"],
    ["the image is whitelisted, committed", "builds"],
  ],
  [
    ["the upload is completed, committed", "builds"],
    ["the Job is created", "builds"],
    ["step context-fetch", "PostgreSQL"],
    ["a document is written", "the internal gateway"],
    ["step push", "NATS"],
    ["the scan is written", "PostgreSQL"],
  ],
  [
    ["the part is added", "builds"],
    ["the Job is created", "the cluster"],
    ["step build", "the registry"],
    ["step scan-gate", "builds"],
    ["the build is ended", "PostgreSQL"],
  ],
  [
    ["a blob is stored", "the external gateway"],
    ["the Secret is created", "builds"],
    ["step sbom", "builds"],
    ["step push", "PostgreSQL"],
    ["the build is cleaned", "builds"],
  ],
  [
    ["the upload is completed, committed", "the external gateway"],
    ["the Secret is created", "the cluster"],
    ["step scan", "the cluster"],
    ["the image is whitelisted, committed", "PostgreSQL"],
  ],
  [
    ["the part is added", "NATS"],
    ["the build is launched", "builds"],
    ["step context-fetch", "the step"],
  ],
  [
    ["the upload is completed", "PostgreSQL"],
    ["the build is launched", "PostgreSQL"],
    ["step build", "the step"],
  ],
  [["step scan-gate", "the step"]],
  [
    ["a document is written", "the cluster"],
    ["step push", "the step"],
  ],
  [
    ["the build is sealed", "builds"],
    ["the image is tagged", "builds"],
    ["the build is ended", "builds"],
  ],
  [
    ["the image is tagged", "the registry"],
    ["the build is ended", "PostgreSQL"],
  ],
  [
    ["the provenance is written, committed", "builds"],
    ["the image is tagged", "the gate"],
    ["the image is whitelisted, committed", "builds"],
  ],
];

/** While a context is replaced, and then withdrawn. */
export const removals: readonly KillPoint[] = [
  ["a blob is removed", "builds"],
  ["a blob is removed", "PostgreSQL"],
  ["the upload is completed, committed", "PostgreSQL"],
];

/** Of a pack whose context is in a bucket. */
export const bucketTable: readonly KillPoint[][] = [
  [
    ["the writer's lease is taken", "the bucket"],
    ["step context-fetch", "the bucket"],
    ["step build", "builds"],
  ],
  [
    ["the part is added", "the bucket"],
    ["step context-fetch", "builds"],
  ],
  [
    ["the upload is completed", "the bucket"],
    ["step context-fetch", "the bucket"],
  ],
  [
    ["the upload is completed, committed", "builds"],
    ["step context-fetch", "the internal gateway"],
  ],
];

/** While the registry is pruned. */
export const prunes: readonly KillPoint[][] = [
  [
    ["a manifest is deleted", "builds"],
    ["a manifest is deleted", "builds"],
  ],
  [["a manifest is deleted", "the registry"]],
  [["a manifest is deleted", "the gate"]],
  [["a manifest is deleted", "PostgreSQL"]],
];

/** While an image is scanned again. */
export const rescans: readonly KillPoint[][] = [
  [
    ["step pull", "builds"],
    ["step scan-gate", "builds"],
    ["the scan is written", "builds"],
  ],
  [
    ["the token is written", "builds"],
    ["step pull", "the registry"],
  ],
  [
    ["step scan-gate", "the internal gateway"],
    ["the build is ended", "PostgreSQL"],
  ],
  [
    ["the build is written", "builds"],
    ["step pull", "the cluster"],
  ],
];

/** While a mail to an author is sent. */
export const mails: readonly KillPoint[] = [
  ["the mail is settled", "builds"],
  ["the mail is taken", "builds"],
  ["the mail is taken", "NATS"],
  ["the mail is settled", "PostgreSQL"],
];

/** While a build is cancelled. */
export const cancels: readonly KillPoint[] = [
  ["the Job is removed", "builds"],
  ["the build is ended", "builds"],
  ["the Job is removed", "the cluster"],
  ["the build is ended", "PostgreSQL"],
];
