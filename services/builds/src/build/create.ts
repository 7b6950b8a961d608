// A new build, in the transaction of what asks for it; the reconcile starts it once a slot is free.

import { randomBytes } from "node:crypto";
import type { BuildsTrx } from "../database.ts";
import type { BuildRow } from "./row.ts";

type NewBuild = {
  /** Target in the platform's registry, already checked. */
  imageRef: string;
  /** Internal address of a submission's context; of a scan, empty. */
  contextRef: string;
  /** Of a scan: what it judges. */
  scanOf?: string | undefined;
  /** Hex sha-256 of the context. */
  contextDigest?: string | undefined;
  /** A record of what was asked; what runs is the Dockerfile in the context. */
  dockerfile?: string | undefined;
  baseImage?: string | undefined;
  /** The name to show. */
  requestedBy: string;
  requestedById?: string | undefined;
  submissionId?: string | undefined;
  /** The build that this one repeats. */
  retryOf?: string | undefined;
};

export function createBuild(trx: BuildsTrx, about: NewBuild): Promise<BuildRow> {
  return trx
    .insertInto("image_builds")
    .values({
      id: randomBytes(16).toString("hex"),
      kind: about.scanOf === undefined ? "build" : "scan",
      image_ref: about.imageRef,
      image_digest: about.scanOf ?? null,
      context_ref: about.contextRef,
      context_digest: about.contextDigest ?? null,
      dockerfile: about.dockerfile ?? "",
      base_image: about.baseImage ?? null,
      requested_by: about.requestedBy,
      requested_by_id: about.requestedById ?? null,
      submission_id: about.submissionId ?? null,
      retry_of: about.retryOf ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
