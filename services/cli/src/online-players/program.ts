import type { Command } from "commander";
import { command, runs } from "../program.ts";

export function addPlayersCommand(program: Command): void {
  command(program, "players", {
    does: "list online players and their servers, across all proxies",
    example: "players --json",
  }).action(runs(async (options) => (await import("./list.ts")).listPlayers(options)));
}
