import type { Command } from "commander";
import { type Common, command, streams } from "../program.ts";

type Options = Common & { follow: boolean; since?: string };

export function addEventCommand(program: Command): void {
  command(program, "events [subject]", {
    does: "follow events, for example 'svc.evt.lifecycle.>'",
    example: "events 'svc.evt.lifecycle.>' --since 1h --no-follow",
  })
    .option("--since <time>", "start from: a span such as 90s, 1h or 2d, or a date such as 2026-11-20")
    .option("--no-follow", "exit after past events")
    .action(
      streams(async (options: Options, subject) =>
        (await import("./events.ts")).followEvents(subject ?? "svc.evt.>", options),
      ),
    );
}
