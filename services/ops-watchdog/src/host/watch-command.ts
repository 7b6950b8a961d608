// What `svc watchdog` and `svc alerts` ask of the program (docs/reference/alerts.md#commands).

import { alerts } from "@svc/proto";
import { z } from "zod";

const by = z.string().max(64);

export const watchCommands = [
  z.strictObject({ do: z.literal("watch"), dry_run: z.boolean() }),
  /** After a `watch` that failed. */
  z.strictObject({ do: z.literal("record-failed-watch"), reason: z.string().max(500) }),
  z.strictObject({ do: z.literal("list-alerts"), history: z.boolean() }),
  z.strictObject({ do: z.literal("silence-alerts"), by, ...alerts.SilenceRequest.shape }),
  z.strictObject({ do: z.literal("end-silence"), by, id: z.string().min(1).max(64) }),
  z.strictObject({ do: z.literal("acknowledge-alert"), by, ...alerts.AcknowledgeRequest.shape }),
  z.strictObject({ do: z.literal("test-alerts") }),
] as const;

const WatchCommand = z.discriminatedUnion("do", watchCommands);
export type WatchCommand = z.output<typeof WatchCommand>;

const names: ReadonlySet<string> = new Set(watchCommands.map(({ shape }) => shape.do.value));

export function isWatchCommand(command: { do: string }): command is WatchCommand {
  return names.has(command.do);
}
