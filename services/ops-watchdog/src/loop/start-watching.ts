// The watchdog of a service process: it watches before anything else of ops-watchdog can start, and waits with it for the
// database and NATS instead of ending.

import { setTimeout as delay } from "node:timers/promises";
import { loadSettings } from "@svc/config";
import type { ServiceEnvironment } from "@svc/service";
import { createLogger, createRegistry, startHealthServer } from "@svc/telemetry";
import { connect } from "../bundle/snapshot.ts";
import { settings as schema } from "../config.ts";
import { natsVersion } from "../update/installed.ts";
import { createRunProgram } from "./run-program.ts";
import { startWatchLoop } from "./watch.ts";

const retryMs = 2_000;

/** Resolves once the database and NATS answer; the watchdog runs from now on. */
export async function startWatching(
  environment: ServiceEnvironment,
): Promise<{ close: () => Promise<void> }> {
  const { file, overrides, databaseUrl, natsUrl, logLevel } = environment;
  const settings = loadSettings(schema, { file, overrides }).ops_watchdog;
  const log = createLogger("ops-watchdog", logLevel);
  const run = createRunProgram({ configFile: file, overrides });
  const loop = startWatchLoop({ settings, databaseUrl, run, log });
  const missing = () => findMissing(databaseUrl, natsUrl);
  let first = await missing();
  if (first === undefined) return loop;
  const health = await startHealthServer({
    host: environment.healthHost,
    port: environment.healthPort,
    registry: createRegistry("ops-watchdog", environment.buildVersion),
    isReady: async () => first,
  });
  log.warn({ missing: first, health_port: health.port }, "waiting for a dependency; the watchdog is running");
  for (; first !== undefined; first = await missing()) await delay(retryMs);
  await health.close();
  return loop;
}

const away: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "57P03",
]);

/** What is away; what answers and refuses us is for the start to report. */
async function findMissing(databaseUrl: string, natsUrl: string): Promise<string | undefined> {
  if (databaseUrl === "") return undefined;
  try {
    const client = await connect(databaseUrl, "svc-ops-watchdog-start");
    await client.end();
  } catch (error) {
    const [cause] = error instanceof AggregateError ? error.errors : [error];
    const { code, message } = cause as NodeJS.ErrnoException;
    if (away.has(code ?? "") || message === "timeout expired") return "the database does not answer";
  }
  const isNatsThere = await natsVersion(natsUrl).then(
    () => true,
    () => false,
  );
  return isNatsThere ? undefined : "NATS does not answer";
}
