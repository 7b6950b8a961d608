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
  const { db, ages, everyMs, now, log } = options;
  let timer: NodeJS.Timeout;
  let isClosed = false;
  let running = Promise.resolve();
  const pass = async () => {
    try {
      const gone = await sweep(db, planSweep(now(), ages));
      log.debug({ gone }, "deleted expired rows");
    } catch (error) {
      log.warn({ error: (error as Error).message }, "deleting expired rows failed; retrying");
    }
    plan(everyMs);
  };
  const plan = (afterMs: number) => {
    if (isClosed) return;
    timer = setTimeout(() => {
      running = pass();
    }, afterMs);
  };
  plan(options.firstMs);
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
