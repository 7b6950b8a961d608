import type { Logger } from "@svc/telemetry";

/** For a loop named `work`, which goes on. */
export const logFailure = (log: Pick<Logger, "warn">, work: string) => (error: Error) =>
  log.warn({ work, error: error.message }, "background task failed; retrying");
