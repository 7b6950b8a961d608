// What the deletion of a user does next (docs/reference/data.md#sagas). Pure.
//
//   open → closed → released

import { refusalOf, type Target } from "./policy.ts";

/** Read under the lock of the user. */
export type Observed = {
  user: Target | undefined;
  callerId: string;
};

/** `state` is what the deletion is left in; from `requeueAt` on any replica resumes it, null when there is nothing left. */
type DeletionPlan =
  | { act: "close_account"; state: "closed"; requeueAt: Date }
  | { act: "refuse"; fault: "not_found" | "self_protected" | "owner_protected" };

/** What a request to delete a user does. */
export function decideDeletion({ user, callerId }: Observed, now: Date): DeletionPlan {
  const fault = user ? refusalOf(user, callerId) : "not_found";
  return fault ? { act: "refuse", fault } : { act: "close_account", state: "closed", requeueAt: now };
}

/** lifecycle's answer to the release of a closed account's servers. */
export type StepOutcome = { released: readonly string[] } | { error: unknown };

type OutcomePlan =
  | { act: "end"; released: number; state: "released"; requeueAt: null }
  | { act: "retry"; error: unknown; state: "closed"; requeueAt: Date };

/** lifecycle releases what is left and answers the same when nothing is: every failure is safe to retry. */
export function decideOutcome(outcome: StepOutcome, retryAt: Date): OutcomePlan {
  if ("error" in outcome) return { act: "retry", error: outcome.error, state: "closed", requeueAt: retryAt };
  return { act: "end", released: outcome.released.length, state: "released", requeueAt: null };
}
