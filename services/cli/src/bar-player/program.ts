import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

const load = () => import("./bar.ts");

export function addPlayerCommands(program: Command): void {
  const player = group(program, "player", "bar players from all servers");
  command(player, "bar <player>", {
    does: "bar a player from all servers and disconnect them",
    example: "player bar b4f7e65c-ed9c-3510-88fa-a3f669cd7244 --yes",
  })
    .option("--name <name>", "player name to record when a UUID is given")
    .addOption(yes())
    .action(
      runs(async (options: Common & { name?: string; yes?: boolean }, who) =>
        (await load()).barPlayer(who ?? "", options),
      ),
    );
  command(player, "unbar <player>", {
    does: "lift the bar of a player",
    example: "player unbar b4f7e65c-ed9c-3510-88fa-a3f669cd7244",
  }).action(runs(async (options, who) => (await load()).unbarPlayer(who ?? "", options)));
}
