import type { Command } from "commander";
import { command, runs } from "../program.ts";
import type { ReaperOptions } from "./run.ts";

export function addReaperCommand(program: Command): void {
  command(program, "reaper", {
    does: "archive idle worlds, warn their owners and put the backup store in order, now",
    example: "reaper --retention-only",
  })
    .option("--retention-only", "touch no world: expire, read back and sweep archives")
    .action(runs(async (options: ReaperOptions) => (await import("./run.ts")).runReaper(options)));
}
