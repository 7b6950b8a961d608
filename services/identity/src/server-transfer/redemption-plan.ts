// What a redemption does next. Pure; the states are in policy.ts.

import { isFault } from "@svc/proto";
import { isAfter, mayGive, type Source, type Transfer } from "./policy.ts";

/** Read under the locks of both accounts. */
export type Observed = {
  transfer: Transfer | undefined;
  source: Source | undefined;
  /** The account that presents the code. */
  callerId: string;
  /** Whether one of the two accounts gives or receives servers in another redemption. */
  isBusy: boolean;
};

/** `state` is what the transfer is left in; from `requeueAt` on any replica may resume it, null when it is over. */
export type RedeemPlan =
  | { act: "transfer_servers"; transfer: Transfer; state: "redeeming"; requeueAt: Date }
  | { act: "answer"; transfer: Transfer; state: "redeemed"; requeueAt: null }
  | { act: "refuse"; reason: "invalid_code" | "busy" };

const invalid: RedeemPlan = { act: "refuse", reason: "invalid_code" };

/** What a presented code does. */
export function decideRedemption(observed: Observed, now: Date, leaseMs: number): RedeemPlan {
  const { transfer } = observed;
  if (transfer?.targetUserId !== observed.callerId) return invalid;
  switch (transfer.state) {
    case "code_issued":
      if (!isAfter(transfer.codeExpiresAt, now)) return invalid;
      if (!observed.source || !mayGive(observed.source)) return invalid;
      // The other redemption may retire one of the accounts before this one ends.
      if (observed.isBusy) return { act: "refuse", reason: "busy" };
      return transferServers(transfer, now, leaseMs);
    case "redeeming":
      return isAfter(transfer.leasedUntil, now) ? invalid : transferServers(transfer, now, leaseMs);
    case "redeemed":
      // Finished by another process after the target's request had failed.
      return transfer.answeredAt ? invalid : { act: "answer", transfer, state: "redeemed", requeueAt: null };
    default:
      return invalid;
  }
}

function transferServers(transfer: Transfer, now: Date, leaseMs: number): RedeemPlan {
  const requeueAt = new Date(now.getTime() + leaseMs);
  return { act: "transfer_servers", transfer, state: "redeeming", requeueAt };
}

/** How a step of the redemption ended: lifecycle's answer, or that the source could not be retired. */
export type StepOutcome = { servers: string[] } | { error: unknown };

type OutcomePlan =
  | { act: "retire_source"; servers: string[]; state: "redeemed"; requeueAt: null }
  | { act: "return_code"; error: unknown; state: "code_issued"; requeueAt: null }
  | { act: "release_lease"; error: unknown; state: "redeeming"; requeueAt: Date };

/** lifecycle transfers all servers or none, and gives the same answer to the same id: a failure is safe to retry. */
export function decideOutcome(outcome: StepOutcome, now: Date): OutcomePlan {
  if ("servers" in outcome)
    return { act: "retire_source", servers: outcome.servers, state: "redeemed", requeueAt: null };
  const { error } = outcome;
  if (isFault(error) && error.fault === "migrate_quota_exceeded")
    return { act: "return_code", error, state: "code_issued", requeueAt: null };
  return { act: "release_lease", error, state: "redeeming", requeueAt: now };
}
