import type { Command } from "commander";
import { command, runs, yes } from "../program.ts";
import type { ConvergeOptions } from "./converge.ts";

export function addConvergeCommand(program: Command): void {
  command(program, "converge", {
    does: "set fields that servers applied by hand or created long ago lack, as for new servers; fields that are set are never changed",
    example: "converge --user-rcon --yes",
  })
    .option("--user-rcon", "also switch RCON on where it is not set; stopped servers only")
    .option("--namespace <name>", "namespace of the servers", "minecraft")
    .addOption(yes())
    .action(runs(async (options: ConvergeOptions) => (await import("./converge.ts")).converge(options)));
}
