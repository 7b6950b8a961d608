// Archives on their way between a Job and the archive folder, for Jobs on nodes that cannot mount it (docs/reference/moves.md#tickets).
// Vocabulary: ticket = the right to send or fetch one archive once; receipt = what storage kept of a sent archive.

import { z } from "zod";
import { nothing, oneTimeToken, operation } from "../contract.ts";

const path = "/api/v1/internal/archives/{id}";
const internal = { face: "internal", tier: "public", bearer: "one-time" } as const;
const id = { id: z.string().max(64) };

export const receive = operation({
  subject: "storage.archive.receive",
  http: {
    method: "PUT",
    path,
    ...internal,
    kind: "upload",
    status: 204,
    upload: { lengthRequired: false, maxBytes: Number.POSITIVE_INFINITY, hasMinimumRate: false },
  },
  params: id,
  headers: oneTimeToken,
  output: nothing,
  faults: ["not_found", "digest_required", "digest_mismatch", "backup_store_full", "backup_corrupt"],
  summary: "Stores an archive that a Job sends; it is synced and verified before the answer.",
  spec: "docs/reference/moves.md#tickets",
});

export const send = operation({
  subject: "storage.archive.send",
  http: { method: "GET", path, ...internal, kind: "download" },
  params: id,
  headers: oneTimeToken,
  output: z.unknown(),
  faults: ["not_found", "backup_corrupt"],
  idempotent: false,
  summary: "Gives an archive to the Job that restores it; a ticket opens it once.",
  spec: "docs/reference/moves.md#tickets",
});
