import type { Command } from "commander";
import { command, group, runs, yes } from "../program.ts";
import type { MoveOptions } from "./commands.ts";

const load = () => import("./commands.ts");

export function addMoveCommands(program: Command): void {
  const move = group(program, "server-migrate", "move worlds of stopped servers between nodes");
  command(move, "start <server> <node>", {
    does: "move a world to another node; the old volume is kept",
    example: "server-migrate start survival node-2 --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: MoveOptions, server, node) =>
        (await load()).startMove(server ?? "", node ?? "", options),
      ),
    );
  command(move, "status <server>", {
    does: "show the latest move of a server",
    example: "server-migrate status survival",
  }).action(runs(async (options: MoveOptions, server) => (await load()).showMove(server ?? "", options)));
  command(move, "retry <server>", {
    does: "retry a failed move from the step that failed",
    example: "server-migrate retry survival",
  }).action(runs(async (options: MoveOptions, server) => (await load()).retryMove(server ?? "", options)));
  command(move, "cancel <server>", {
    does: "cancel a move: the world stays, the unfinished copy is deleted",
    example: "server-migrate cancel survival --yes",
  })
    .addOption(yes())
    .action(runs(async (options: MoveOptions, server) => (await load()).cancelMove(server ?? "", options)));
}
