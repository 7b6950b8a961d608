import type { Command } from "commander";
import { command, runs } from "../program.ts";
import type { ReaperOptions } from "./run.ts";

export function addReaperCommand(program: Command): void {
  command(program, "reaper", {
    does: "run the daily batch now: archive idle worlds, warn owners, expire backups",
    example: "reaper --retention-only",
  })
    .option("--retention-only", "leave worlds alone: only expire, verify and sweep archives")
    .action(runs(async (options: ReaperOptions) => (await import("./run.ts")).runReaper(options)));
}
