// Code attempts of a signed-in account: codes of eight characters could be guessed from any number of addresses.

import { Fault } from "@svc/proto";
import { takeToken } from "@svc/store";
import type { Requester } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import type { FailedDoor } from "../events.ts";
import { getAccount } from "../principal.ts";

type CodeDeps = Pick<Deps, "db" | "limits" | "now" | "events">;

/** Takes one attempt from the budget that all code fields of an account share. Throws `rate_limited`. */
export async function takeCodeAttempt(deps: CodeDeps, requester: Requester, door: FailedDoor): Promise<void> {
  const { db, limits, now, events } = deps;
  const taken = await takeToken(db, {
    table: "sign_in_budgets",
    key: `account ${getAccount(requester.principal).user_id}`,
    burst: limits.code_burst,
    perSecond: limits.code_per_minute / 60,
    now: now(),
  });
  if (taken.allowed) return;
  events.signInFailed(requester, { door, reason: "rate_limited" });
  throw new Fault("rate_limited", {
    message: "Too many codes were entered for this account; wait and try again.",
    retryAfterSeconds: taken.retryAfterSeconds,
  });
}
