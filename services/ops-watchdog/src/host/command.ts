// The commands of the program.

import { databaseBackups } from "@svc/proto";
import { z } from "zod";
import { componentNames } from "../config.ts";
import { KeyCommand } from "../offsite/key-command.ts";
import { OffsiteCommand } from "./offsite-command.ts";
import { WalCommand } from "./wal-command.ts";
import { watchCommands } from "./watch-command.ts";

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
