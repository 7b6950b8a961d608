// How often an account may try invitations (docs/reference/shared-access.md#invitations): its bucket is shared by all replicas.

import { Fault } from "@svc/proto";
import { takeToken } from "@svc/store";
import type { LifecycleStore } from "../database/schema.ts";
import { withDatabaseFaults } from "../database/with-database-faults.ts";

export type AttemptBudget = {
  /** Counts one; throws `invitation_rate_limited` when there are none left. Not within a transaction, whose end could undo it. */
  take: (accountId: string) => Promise<void>;
};

export function createAttemptBudget(
  { db }: Pick<LifecycleStore, "db">,
  perMinute: number,
  now: () => number = Date.now,
): AttemptBudget {
  return {
    take: withDatabaseFaults(async (accountId) => {
      const taken = await takeToken(db, {
        table: "invitation_attempts",
        key: accountId,
        burst: perMinute,
        perSecond: perMinute / 60,
        now: new Date(now()),
      });
      if (taken.allowed) return;
      throw new Fault("invitation_rate_limited", { retryAfterSeconds: taken.retryAfterSeconds });
    }),
  };
}
