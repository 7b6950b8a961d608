// Who owns a server: claims, giving up, the allowlist, and what other services ask about owners
// (api.md A3, A13; interface.md 2.5 to 2.7; behaviour.md c Claim, f).
// Vocabulary: claim = take an unowned server; release = it has no owner any more; retire = give up or delete, carried
// out by the reaper; allowlist = players who joined and may wake it under the policy `allowlist`.

import { z } from "zod";
import { request } from "../contract.ts";
import { Limits } from "../identity/quota.ts";

const accountId = z.string().min(1).max(64);

export const releaseAccount = request({
  subject: "lifecycle.ownership.release-account",
  input: { user_id: accountId },
  output: z.strictObject({ released: z.array(z.string()) }),
  callers: ["identity"],
  idempotent: true,
  summary:
    "Takes every server from an account that is deleted; the worlds stay, their allowlists are emptied.",
  spec: "api.md A26, architecture.md 4",
});

export const transferAccount = request({
  subject: "lifecycle.ownership.transfer-account",
  input: {
    /** Id of the account migration: a repeat gives the first answer. */
    transfer_id: z.string().min(1).max(64),
    from_user_id: accountId,
    to_user_id: accountId,
    /** Limits of the receiving account, checked in the transaction that moves the servers. */
    limits: Limits,
  },
  output: z.strictObject({ servers: z.array(z.string()) }),
  faults: ["migrate_quota_exceeded"],
  callers: ["identity"],
  idempotent: true,
  summary: "Moves all servers of one account to another in one transaction, or none.",
  spec: "api.md A12",
});

export const countOwned = request({
  subject: "lifecycle.ownership.count",
  input: { user_ids: z.array(accountId).max(500) },
  output: z.strictObject({ counts: z.record(z.string(), z.number().int().min(0)) }),
  callers: ["identity"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "How many servers accounts own; an account without any may be missing in the answer.",
  spec: "interface.md 2.22 server_count",
});
