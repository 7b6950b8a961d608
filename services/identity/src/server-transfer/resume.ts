import { isFault } from "@svc/proto";
import { startSagaLoop } from "../saga.ts";
import { type HandOver, handOver } from "./finish.ts";
import { takeAbandoned } from "./redemption-store.ts";

const identityItself = {
  principal: { kind: "service", service: "identity" },
  client: { address: "", userAgent: "" },
} as const;

/** Carries one abandoned redemption on; false when there is none. */
export async function resumeNext(needs: HandOver): Promise<boolean> {
  const { db, limits } = needs;
  const now = needs.now();
  const until = new Date(now.getTime() + limits.migration_lease);
  const migration = await takeAbandoned(db, { until, now });
  if (!migration) return false;
  const work = { migration, asker: { ...identityItself, requestId: migration.id }, isTold: false };
  // A refusal for want of quota gives the code back, which is an end too; anything else was logged and stays open.
  await handOver(needs, work).catch((error: unknown) => {
    if (!isFault(error) || error.fault !== "migrate_quota_exceeded") throw error;
  });
  return true;
}

/** Looks for abandoned redemptions until closed; any number of replicas may. */
export function startTransferLoop(needs: HandOver): { close: () => Promise<void> } {
  return startSagaLoop({
    resumeNext: () => resumeNext(needs),
    everyMs: needs.limits.migration_retry,
    onError: (error) =>
      needs.log.debug({ err: error }, "an abandoned account migration could not be carried on"),
  });
}
