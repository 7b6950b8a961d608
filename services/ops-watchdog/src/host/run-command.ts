// What carries a command out is loaded for it alone: the watchdog starts this program every two minutes.

import type { Command } from "./command.ts";
import type { HostContext } from "./context.ts";
import { isWatchCommand } from "./watch-command.ts";

export async function runCommand(context: HostContext, command: Command): Promise<unknown> {
  if (isWatchCommand(command)) return (await import("./watch.ts")).runWatchCommand(context, command);
  switch (command.do) {
    case "back-up":
    case "back-up-data":
    case "list":
    case "verify":
    case "check":
      return (await import("./bundles.ts")).runBundleCommand(context, command);
    case "check-updates":
    case "plan-update":
    case "plan-rollback":
      return (await import("./update.ts")).runUpdateCommand(context, command);
    case "offsite-keygen":
    case "offsite-check-key":
    case "offsite-recovery-sheet":
    case "offsite-restore-key": {
      const { runKeyCommand } = await import("../offsite/keys.ts");
      return runKeyCommand({ settings: context.settings.offsite, env: context.env }, command);
    }
    case "wal-status":
    case "recover":
      return (await import("./wal.ts")).runWalCommand(context, command);
    case "plan-restore":
    case "restore":
    case "rehearse":
    case "differences":
    case "apply-servers":
      return (await import("./restore.ts")).runRestoreCommand(context, command);
    default:
      return (await import("./offsite.ts")).runOffsiteCommand(context, command);
  }
}
