// Work on one object of a pass: its failure is recorded and the pass goes on, until nothing works any more.

import type { PassReport } from "../database.ts";
import type { Claim } from "./claim.ts";
import type { Pass } from "./pass-context.ts";
import { isOfOneObject, isOutOfReach } from "./send.ts";

const shownFailures = 50;
/** Objects for which the store or an owner was out of reach, without a success in between; the next one would fail too. */
const mostInARow = 3;
/** How long a pass relies on having been the writer. */
const claimTrustMs = 60_000;

export function createAttempt(
  report: PassReport,
  claim: Pick<Claim, "assertHeld">,
  now: () => number,
): Pass["attempt"] {
  let inARow = 0;
  let checkedAt = now();
  return async (key, work) => {
    if (now() - checkedAt > claimTrustMs) {
      await claim.assertHeld();
      checkedAt = now();
    }
    try {
      await work();
      inARow = 0;
      return true;
    } catch (error) {
      if (isOutOfReach(error)) inARow += 1;
      report.failed += 1;
      const failure = { key, error: (error as Error).message };
      if (report.failures.length < shownFailures) report.failures.push(failure);
      if (inARow >= mostInARow || !isOfOneObject(error)) throw error;
      return false;
    }
  };
}
