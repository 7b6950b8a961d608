// `registry-gate garbage-collect`: exit code 0 = collected, 1 = failed, 2 = the pushes never paused.

import type { Logger } from "@svc/telemetry";
import { findPassword } from "../access/credentials.ts";
import type { GateConfig } from "../config.ts";
import { collectGarbage } from "./collect.ts";
import { createLeaseClient } from "./lease-client.ts";

export async function runCollection(config: GateConfig, log: Logger, signal: AbortSignal): Promise<number> {
  const password = findPassword(config.credentialsFile, "prune");
  if (password === undefined) {
    log.error({ file: config.credentialsFile }, "the file of passwords has no line prune:PASSWORD");
    return 1;
  }
  const url = `http://127.0.0.1:${config.leasePort}`;
  const lease = createLeaseClient({ url, password, ttlMs: config.leaseMs });
  const startedAt = Date.now();
  const result = await collectGarbage({ lease, ...config.collect, now: Date.now, signal });
  const seconds = (Date.now() - startedAt) / 1_000;
  if (result.kind === "done") {
    log.info({ seconds }, "garbage collection finished");
    return 0;
  }
  log.error({ seconds, reason: result.reason }, "garbage collection failed");
  return result.kind === "busy" ? 2 : 1;
}
