import type { Command } from "commander";
import { command, runs, yes } from "../program.ts";
import type { ConvergeOptions } from "./converge.ts";

export function addConvergeCommand(program: Command): void {
  command(program, "converge", {
    does: "fill fields that servers applied by hand or made long ago never had, as new servers have them; what is set is never changed",
    example: "converge --user-rcon --yes",
  })
    .option("--user-rcon", "also switch RCON on where nothing is said about it; stopped servers only")
    .option("--namespace <name>", "namespace of the servers", "minecraft")
    .addOption(yes())
    .action(runs(async (options: ConvergeOptions) => (await import("./converge.ts")).converge(options)));
}
