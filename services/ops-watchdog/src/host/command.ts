import { databaseBackups } from "@svc/proto";
import { z } from "zod";
import { verifyAndRecord } from "../bundle/finding.ts";
import { listBundles } from "../bundle/folder.ts";
import { isStale } from "../bundle/status.ts";
import { takeBundle } from "../bundle/take.ts";
import { componentNames } from "../config.ts";
import { KeyCommand, runKeyCommand } from "../offsite/keys.ts";
import { type HostContext, needDatabase, pathOf, readServers } from "./context.ts";
import { hasData } from "./has-data.ts";
import { OffsiteCommand } from "./offsite-command.ts";
import { planRestore, runApplyServers, runRehearsal, runRestore, showDifferences } from "./restore.ts";
import { checkForUpdates, planRollback, planUpdate } from "./update.ts";
import { runWalCommand, WalCommand } from "./wal.ts";
import { isWatchCommand, watchCommands } from "./watch-command.ts";

const bundle = z.string().min(1).max(4_096);

/** What `svc` may ask; `bundle` is a name in the folder or a path. */
export const Command = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("back-up"), label: databaseBackups.BundleLabel }),
  /** As `back-up` with the label pre-migrate, only when there is something to lose. */
  z.strictObject({ do: z.literal("back-up-data") }),
  z.strictObject({ do: z.literal("list") }),
  z.strictObject({ do: z.literal("verify"), bundle: bundle.optional() }),
  z.strictObject({ do: z.literal("check") }),
  z.strictObject({ do: z.literal("check-updates"), record: z.boolean() }),
  /** Without components: those that have an update. */
  z.strictObject({ do: z.literal("plan-update"), components: z.array(z.enum(componentNames)) }),
  z.strictObject({ do: z.literal("plan-rollback") }),
  z.strictObject({ do: z.literal("plan-restore"), bundle }),
  z.strictObject({ do: z.literal("restore"), bundle, force: z.boolean(), safety: z.boolean() }),
  z.strictObject({ do: z.literal("rehearse"), bundle: bundle.optional() }),
  z.strictObject({ do: z.literal("differences") }),
  z.strictObject({ do: z.literal("apply-servers"), bundle: bundle.optional(), apply: z.boolean() }),
  ...WalCommand.options,
  ...KeyCommand.options,
  ...watchCommands,
  ...OffsiteCommand.options,
]);
export type Command = z.output<typeof Command>;

export async function runCommand(context: HostContext, command: Command): Promise<unknown> {
  if (isWatchCommand(command)) return (await import("./watch.ts")).runWatchCommand(context, command);
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
    case "check-updates":
      return checkForUpdates(context, command);
    case "plan-update":
      return planUpdate(context, command);
    case "plan-rollback":
      return planRollback(context);
    case "offsite-keygen":
    case "offsite-check-key":
    case "offsite-recovery-sheet":
    case "offsite-restore-key":
      return runKeyCommand({ settings: context.settings.offsite, env: context.env }, command);
    case "wal-status":
    case "recover":
      return runWalCommand(context, command);
    case "plan-restore":
    case "restore":
    case "rehearse":
    case "differences":
    case "apply-servers":
      return runRestoreCommand(context, command);
    default:
      return (await import("./offsite.ts")).runOffsiteCommand(context, command);
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

type RestoreCommand = Extract<
  Command,
  { do: "plan-restore" | "restore" | "rehearse" | "differences" | "apply-servers" }
>;

async function runRestoreCommand(context: HostContext, command: RestoreCommand): Promise<unknown> {
  switch (command.do) {
    case "plan-restore":
      return planRestore(context, command.bundle);
    case "restore":
      return runRestore(context, command);
    case "rehearse":
      return runRehearsal(context, command.bundle);
    case "differences":
      return showDifferences(context);
    case "apply-servers":
      return runApplyServers(context, command);
  }
}
