import type { Command } from "commander";
import { type Common, command, repeat, runs } from "../program.ts";
import type { ApplyOptions } from "./commands.ts";

export function addApplyCommand(program: Command): void {
  command(program, "apply", {
    does: "create and change servers from files: settings, schedules, who may wake; never deletes a server or a world",
    example: "apply -f survival.yaml --plan",
  })
    .requiredOption(
      "-f, --file <path>",
      "a YAML file, a folder of them, or - for standard input; may be repeated",
      repeat,
    )
    .option("--plan", "only print what would change")
    .option("--prune", "delete scheduled tasks that the files do not have")
    .option("--yes", "do not ask before a task is deleted, a running server restarts or an image changes")
    .action(runs(async (options: Common & ApplyOptions) => (await import("./commands.ts")).apply(options)));
}
