import type { Command } from "commander";
import { command, group, runs, yes } from "../program.ts";
import type { MoveOptions } from "./commands.ts";

const load = () => import("./commands.ts");

export function addMoveCommands(program: Command): void {
  const move = group(program, "server-migrate", "worlds of stopped servers, from node to node");
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
    does: "the latest move of a server",
    example: "server-migrate status survival",
  }).action(runs(async (options: MoveOptions, server) => (await load()).showMove(server ?? "", options)));
  command(move, "retry <server>", {
    does: "go on with a move that failed, from where it failed",
    example: "server-migrate retry survival",
  }).action(runs(async (options: MoveOptions, server) => (await load()).retryMove(server ?? "", options)));
  command(move, "cancel <server>", {
    does: "give a move up: the world stays where it is, the half-filled copy goes",
    example: "server-migrate cancel survival --yes",
  })
    .addOption(yes())
    .action(runs(async (options: MoveOptions, server) => (await load()).cancelMove(server ?? "", options)));
}
