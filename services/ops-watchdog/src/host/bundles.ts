// Commands of the host on database bundles (docs/reference/database-backups.md#commands).

import type { databaseBackups } from "@svc/proto";
import { verifyAndRecord } from "../bundle/finding.ts";
import { listBundles } from "../bundle/folder.ts";
import { isStale } from "../bundle/status.ts";
import { takeBundle } from "../bundle/take.ts";
import type { Command } from "./command.ts";
import { type HostContext, needDatabase, pathOf, readServers } from "./context.ts";
import { hasData } from "./has-data.ts";

type BundleCommand = Extract<Command, { do: "back-up" | "back-up-data" | "list" | "verify" | "check" }>;

export async function runBundleCommand(context: HostContext, command: BundleCommand): Promise<unknown> {
  switch (command.do) {
    case "back-up":
      return backUp(context, command.label);
    case "back-up-data":
      return (await hasData(needDatabase(context))) ? backUp(context, "pre-migrate") : null;
    case "list":
      return list(context);
    case "verify":
      return verify(context, command.bundle);
    case "check":
      return check(context);
  }
}

async function backUp(context: HostContext, label: databaseBackups.BundleLabel) {
  const { settings, version } = context;
  const { manifest, sizeBytes, path, name, deleted, dumpError } = await takeBundle(
    {
      url: needDatabase(context),
      settings: settings.ops_watchdog,
      version,
      readServers: () => readServers(context),
      path: context.env["PATH"],
      now: () => new Date(),
    },
    label,
    { step: context.step },
  );
  const { counts, servers_error, server_objects } = manifest;
  return {
    ...{ name, path, size_bytes: sizeBytes, counts, server_objects, servers_error, deleted },
    ...(dumpError !== undefined && { dump_error: dumpError }),
  };
}

async function list({ settings }: HostContext) {
  const dir = settings.ops_watchdog.bundle_dir;
  const bundles = (await listBundles(dir)).map(({ name, label, takenAt, sizeBytes, manifest, problem }) => ({
    name,
    label,
    at: takenAt.toISOString(),
    size_bytes: sizeBytes,
    ...(manifest && {
      version: manifest.version,
      schema_version: manifest.schema_version,
      counts: manifest.counts,
    }),
    ...(manifest?.servers_error !== undefined && { servers_error: manifest.servers_error }),
    ...(problem !== undefined && { problem }),
  }));
  return { dir, bundles };
}

async function verify(context: HostContext, bundle: string | undefined) {
  const dir = context.settings.ops_watchdog.bundle_dir;
  const paths =
    bundle === undefined ? (await listBundles(dir)).map(({ path }) => path) : [pathOf(context, bundle)];
  const results = [];
  for (const path of paths) {
    const result = await verifyAndRecord(path, { dir, now: new Date(), step: context.step });
    if (result) results.push({ path, ...result });
  }
  return { dir, results };
}

async function check({ settings }: HostContext) {
  const { bundle_dir, bundle_max_age } = settings.ops_watchdog;
  const bundles = await listBundles(bundle_dir);
  const daily = bundles.find(({ label, problem }) => label === "daily" && problem === undefined);
  const newest = bundles.at(0);
  return {
    stale: isStale(daily?.takenAt, bundle_max_age, Date.now()),
    max_age_seconds: bundle_max_age / 1_000,
    ...(daily && { daily: { name: daily.name, at: daily.takenAt.toISOString() } }),
    ...(newest && { newest: newest.name }),
    ...(newest?.problem !== undefined && { problem: newest.problem }),
    ...(newest?.manifest?.servers_error !== undefined && { servers_error: newest.manifest.servers_error }),
  };
}
