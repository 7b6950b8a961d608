import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import { componentNames } from "../config.ts";
import type { Tables } from "../database.ts";
import { type CheckDeps, checkUpdates } from "../update/check.ts";
import { steps } from "../update/components.ts";
import { kubernetesVersion, natsVersion, postgresqlVersion } from "../update/installed.ts";
import { recordReport } from "../update/report.ts";
import { readWindow } from "../update/window.ts";
import type { HostContext } from "./context.ts";

/** A check of all components with the window and the steps of each update; stored when `record` is set. */
export async function checkForUpdates(context: HostContext, { record }: { record: boolean }) {
  const { settings, databaseUrl, version } = context;
  const report = await checkUpdates({
    version,
    feeds: feedsOf(context),
    pinned: settings.ops_watchdog.pinned,
    feedTimeoutMs: settings.ops_watchdog.feed_timeout,
    installed: {
      postgresql: () => postgresqlVersion(databaseUrl),
      nats: () => natsVersion(context.natsUrl),
      kubernetes: () => kubernetesVersion(context.kubeconfig),
    },
    now: Date.now,
  });
  const log = createLogger("ops-watchdog", "silent");
  const store = openStore<Tables>({ url: databaseUrl, schema: "ops_watchdog", poolSize: 1, log });
  try {
    if (record) await recordReport(store.db, report);
    // Without a database the report is still worth printing.
    const window = await readWindow(store.db).catch(() => null);
    return { report, window, steps, recorded: record };
  } finally {
    await store.close();
  }
}

function feedsOf({ settings }: HostContext): CheckDeps["feeds"] {
  const given = settings.ops_watchdog;
  const feeds = componentNames.map((name) => [name, given[`feed_${name}`]]);
  return Object.fromEntries(feeds) as CheckDeps["feeds"];
}
