import { randomUUID } from "node:crypto";
import { faults, isFault } from "@svc/proto";
import { type Logger, startTracing, type Tracing } from "@svc/telemetry";
import type { ServiceEnvironment } from "./config.ts";

/** Tracing of this process (docs/reference/tracing.md). Throws an Error with one sentence when a variable is wrong. */
export function traceService(
  service: string,
  { buildVersion, collector }: Pick<ServiceEnvironment, "buildVersion" | "collector">,
  log: Logger,
): Promise<Tracing> {
  return startTracing({
    service,
    version: buildVersion,
    instance: randomUUID(),
    collector,
    describeError: (error) =>
      isFault(error)
        ? { name: error.fault, isFailure: faults[error.fault].status >= 500 }
        : { isFailure: true },
    onProblem: (message) => log.warn({ error: message }, "sending spans failed; they are dropped"),
  });
}
