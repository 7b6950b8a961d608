import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

const load = () => import("./bar.ts");

export function addPlayerCommands(program: Command): void {
  const player = group(program, "player", "who may play at all");
  command(player, "bar <player>", {
    does: "keep a player out of every server; one who is on is sent away",
    example: "player bar b4f7e65c-ed9c-3510-88fa-a3f669cd7244 --yes",
  })
    .option("--name <name>", "the name that is noted with it, when the player is given by UUID")
    .addOption(yes())
    .action(
      runs(async (options: Common & { name?: string; yes?: boolean }, who) =>
        (await load()).barPlayer(who ?? "", options),
      ),
    );
  command(player, "unbar <player>", {
    does: "let a barred player in again",
    example: "player unbar b4f7e65c-ed9c-3510-88fa-a3f669cd7244",
  }).action(runs(async (options, who) => (await load()).unbarPlayer(who ?? "", options)));
}
