import type { Command } from "commander";
import type { Maker } from "../backup/program.ts";
import type { ReaperOptions } from "./run.ts";

export function addReaperCommand(program: Command, { command, runs }: Maker): void {
  command(program, "reaper", "archive idle worlds, warn their owners and put the backup store in order, now")
    .option("--retention-only", "touch no world: expire, read back and sweep archives")
    .action(runs(async (options: ReaperOptions) => (await import("./run.ts")).runReaper(options)));
}
