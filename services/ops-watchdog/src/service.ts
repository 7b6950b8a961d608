// Table of contents: which handler answers which contract.

import { databaseBackups } from "@svc/proto";
import type { Running, Runtime } from "@svc/service";
import { createReadStatus } from "./bundle/status.ts";
import type { Settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { serveUpdates } from "./update/serve.ts";

type WatchdogRuntime = Pick<Runtime<Settings, Tables>, "settings" | "mesh" | "store"> & {
  /** The clock; the real one unless a test moves it. */
  now?: () => number;
};

/** Starts ops-watchdog on a connected mesh and a checked schema. */
export async function startOpsWatchdog(runtime: WatchdogRuntime): Promise<Running> {
  const { settings, mesh, store, now = Date.now } = runtime;
  const { db } = store;
  const { bundle_max_age, report_max_age } = settings.ops_watchdog;
  serveUpdates({ db, mesh, maxAgeMs: report_max_age, now });
  mesh.serve(databaseBackups.readStatus, createReadStatus({ db, maxAgeMs: bundle_max_age, now }));
  return {};
}
