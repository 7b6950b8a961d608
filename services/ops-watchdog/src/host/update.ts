import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import { listBundles } from "../bundle/folder.ts";
import { connect, countMigrations } from "../bundle/snapshot.ts";
import { type ComponentName, componentNames } from "../config.ts";
import type { Tables } from "../database.ts";
import { type CheckDeps, checkUpdates } from "../update/check.ts";
import { kubernetesVersion, natsVersion, postgresqlVersion } from "../update/installed.ts";
import { planUpdates, titlesOf } from "../update/plan.ts";
import { recordReport } from "../update/report.ts";
import { decideRollback, type RollbackBundle } from "../update/rollback.ts";
import { readWindow } from "../update/window.ts";
import type { Command } from "./command.ts";
import type { HostContext } from "./context.ts";

type UpdateCommand = Extract<Command, { do: "check-updates" | "plan-update" | "plan-rollback" }>;

export async function runUpdateCommand(context: HostContext, command: UpdateCommand): Promise<unknown> {
  switch (command.do) {
    case "check-updates":
      return checkForUpdates(context, command);
    case "plan-update":
      return planUpdate(context, command);
    case "plan-rollback":
      return planRollback(context);
  }
}

const steps = Object.fromEntries(componentNames.map((name) => [name, titlesOf(name)]));

/** A check of all components with the window and the steps of each update; stored when `record` is set. */
async function checkForUpdates(context: HostContext, { record }: { record: boolean }) {
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

/** The steps for the named components; without names, for those that have an update. */
async function planUpdate(context: HostContext, { components }: { components: ComponentName[] }) {
  const { report, window } = await checkForUpdates(context, { record: false });
  const wanted = componentNames.flatMap((name) => {
    const found = report.components.find((one) => one.name === name);
    const isWanted = components.length === 0 ? found?.state === "available" : components.includes(name);
    return isWanted ? [{ name, current: found?.current, latest: found?.latest }] : [];
  });
  const newest = (await usableBundles(context)).at(0);
  return {
    components: planUpdates(wanted),
    window,
    ...(newest && { newest_bundle: { name: newest.name, at: newest.takenAt.toISOString() } }),
  };
}

async function planRollback(context: HostContext) {
  const migrations = await appliedMigrations(context.databaseUrl).catch(() => undefined);
  return {
    dir: context.settings.ops_watchdog.bundle_dir,
    ...decideRollback(await usableBundles(context), migrations),
  };
}

async function usableBundles({ settings }: HostContext): Promise<RollbackBundle[]> {
  const found = await listBundles(settings.ops_watchdog.bundle_dir);
  return found.flatMap(({ name, label, takenAt, manifest, problem }) =>
    manifest === undefined || problem !== undefined
      ? []
      : [{ name, label, takenAt, version: manifest.version, migrations: manifest.schema_version }],
  );
}

async function appliedMigrations(url: string): Promise<number> {
  if (url === "") throw new Error("no database is configured");
  const client = await connect(url, "svc-update-plan");
  try {
    return await countMigrations(client);
  } finally {
    await client.end();
  }
}

function feedsOf({ settings }: HostContext): CheckDeps["feeds"] {
  const given = settings.ops_watchdog;
  const feeds = componentNames.map((name) => [name, given[`feed_${name}`]]);
  return Object.fromEntries(feeds) as CheckDeps["feeds"];
}
