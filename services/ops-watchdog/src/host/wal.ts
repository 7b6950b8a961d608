// Commands of the host on the archive of the log (docs/reference/database-backups.md#point-in-time).

import { recoverBundle } from "../wal/recover.ts";
import { readWalStatus } from "../wal/status.ts";
import { type HostContext, readServers } from "./context.ts";
import type { WalCommand } from "./wal-command.ts";

export async function runWalCommand(context: HostContext, command: WalCommand): Promise<unknown> {
  const { wal_archive, wal_dir, wal_max_age, bundle_dir } = context.settings.ops_watchdog;
  if (command.do === "wal-status")
    return readWalStatus({ dir: wal_dir, enabled: wal_archive, maxAgeMs: wal_max_age, now: Date.now() });
  const { at, from, scratch, program } = command;
  const { name, path, base, skipped, sizeBytes, manifest } = await recoverBundle(
    {
      walDir: from ?? wal_dir,
      bundleDir: bundle_dir,
      scratchDir: scratch,
      program,
      version: context.version,
      readServers: () => readServers(context),
      step: context.step,
    },
    new Date(at),
  );
  const { counts, servers_error } = manifest;
  return {
    ...{ name, path, at, base, skipped, size_bytes: sizeBytes, counts },
    ...(servers_error !== undefined && { servers_error }),
  };
}
