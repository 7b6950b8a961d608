// Table of contents: which handler answers which contract.

import { databaseBackups, offsites } from "@svc/proto";
import type { Running, Runtime } from "@svc/service";
import { auditRow } from "@svc/store";
import { createReadStatus } from "./bundle/status.ts";
import { type Settings, environment as variables } from "./config.ts";
import type { Tables } from "./database.ts";
import { startTasks } from "./loop/loop.ts";
import { createMetrics } from "./loop/metrics.ts";
import { createRunProgram } from "./loop/run-program.ts";
import { createReadOffsite } from "./offsite/status.ts";
import { serveUpdates } from "./update/serve.ts";
import { startArchive } from "./wal/archive.ts";
import { readPointInTime } from "./wal/status.ts";
import { createAuditJournal, startSweep } from "./watchdog/audit-journal.ts";
import { showAlerts } from "./watchdog/metrics.ts";
import { alertDeps } from "./watchdog/operate.ts";
import { serveAlerts } from "./watchdog/serve.ts";
import type { Resolve } from "./webhook/address.ts";
import { startWebhooks } from "./webhook/start.ts";

type WatchdogRuntime = Pick<Runtime<Settings, Tables>, "settings" | "mesh" | "store" | "log" | "registry"> & {
  environment: Pick<Runtime<Settings, Tables>["environment"], "file" | "overrides">;
  /** The clock; the real one unless a test moves it. */
  now?: () => number;
  /** How often entries that others left are looked for; tests do not wait for it. */
  auditSweepMs?: number;
  /** DNS for webhooks; the real one unless a test answers. */
  resolve?: Resolve;
};

/** Starts ops-watchdog on a connected mesh and a checked schema. */
export async function startOpsWatchdog(runtime: WatchdogRuntime): Promise<Running> {
  const {
    settings,
    mesh,
    store,
    environment,
    registry,
    log,
    now = Date.now,
    auditSweepMs = 30_000,
    resolve,
  } = runtime;
  const { db } = store;
  const {
    bundle_max_age: maxAgeMs,
    report_max_age,
    wal_archive,
    replication_url_ref,
  } = settings.ops_watchdog;
  serveUpdates({ db, mesh, maxAgeMs: report_max_age, now });
  const readPointInTime = wal_archive ? pointInTimeReader(settings, now) : undefined;
  mesh.serve(databaseBackups.readStatus, createReadStatus({ db, maxAgeMs, now, readPointInTime }));
  mesh.serve(
    offsites.readOffsite,
    createReadOffsite({ db, settings: settings.offsite, walArchive: wal_archive, now }),
  );
  const alerting = alertDeps(settings, variables(), now);
  const journal = createAuditJournal({
    dir: settings.ops_watchdog.state_dir,
    copyDir: settings.ops_watchdog.state_copy_dir,
    publish: async (entry) => {
      await db.insertInto("outbox").values(auditRow("ops-watchdog", entry)).execute();
    },
  });
  serveAlerts(mesh, { ...alerting, journal });
  const sweeping = startSweep(journal, { everyMs: auditSweepMs, log });
  showAlerts(registry, alerting.file);
  const webhooks = await startWebhooks({
    ...{ settings, db, mesh, registry, log, resolve },
    file: alerting.file,
  });
  const metrics = createMetrics(registry);
  const archive = wal_archive
    ? startArchive({
        ...{ settings: settings.ops_watchdog, url: store.url, log, now },
        replicationUrl: variables()[replication_url_ref] || store.url,
        onReceived: metrics.walReceived,
      })
    : undefined;
  const loop = startTasks({
    db,
    url: store.url,
    settings: settings.ops_watchdog,
    offsite: settings.offsite,
    run: createRunProgram({ configFile: environment.file, overrides: environment.overrides }),
    metrics,
    now,
    log,
  });
  return {
    stop: async () => {
      await Promise.all([loop.close(), sweeping.close(), webhooks.close(), archive?.close()]);
    },
  };
}

function pointInTimeReader({ ops_watchdog }: Settings, now: () => number) {
  const { wal_dir: dir, wal_max_age: maxAgeMs } = ops_watchdog;
  return () => readPointInTime({ dir, maxAgeMs, now: now() });
}
