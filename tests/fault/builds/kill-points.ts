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
];

/** While a context is replaced, and then withdrawn. */
export const removals: readonly KillPoint[] = [
  ["a blob is removed", "builds"],
  ["a blob is removed", "PostgreSQL"],
  ["the upload is completed, committed", "PostgreSQL"],
];

/** While a build is cancelled. */
export const cancels: readonly KillPoint[] = [
  ["the Job is removed", "builds"],
  ["the build is ended", "builds"],
  ["the Job is removed", "the cluster"],
  ["the build is ended", "PostgreSQL"],
];
