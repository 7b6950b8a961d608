// The commands of the program. What carries one out is loaded for it alone: the watchdog starts this program every two minutes.

import { databaseBackups } from "@svc/proto";
import { z } from "zod";
import { componentNames } from "../config.ts";
import { KeyCommand } from "../offsite/key-command.ts";
import type { HostContext } from "./context.ts";
import { OffsiteCommand } from "./offsite-command.ts";
import { WalCommand } from "./wal-command.ts";
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
