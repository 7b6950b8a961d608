import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type { IdentityDb } from "../database.ts";
import { type Ages, planSweep, sweep } from "./sweep.ts";

type RetentionOptions = {
  db: IdentityDb;
  ages: Ages;
  firstMs: number;
  everyMs: number;
  now: () => Date;
  log: Logger;
};

/** Deletes expired rows periodically until closed. A failed pass is repeated by the next. */
export function startRetention(options: RetentionOptions): { close: () => Promise<void> } {
  const { db, ages, firstMs, everyMs, now, log } = options;
  const pass = async () => {
    const gone = await sweep(db, planSweep(now(), ages));
    log.debug({ gone }, "deleted expired rows");
  };
  return startLoop(pass, {
    firstMs,
    everyMs,
    onError: (error) => log.warn({ error: error.message }, "deleting expired rows failed; retrying"),
  });
}
