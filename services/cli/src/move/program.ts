import { type Command, Option } from "commander";
import type { Maker } from "../backup/program.ts";
import type { MoveOptions } from "./commands.ts";

const load = () => import("./commands.ts");
const yes = () => new Option("--yes", "do it; without it only the plan is printed");

export function addMoveCommands(program: Command, { command, runs }: Maker): void {
  const move = program.command("server-migrate").description("worlds of stopped servers, from node to node");
  command(move, "start <server> <node>", "move a world to another node; the old volume is kept")
    .addOption(yes())
    .action(
      runs(async (options: MoveOptions, server, node) =>
        (await load()).startMove(server ?? "", node ?? "", options),
      ),
    );
  command(move, "status <server>", "the latest move of a server").action(
    runs(async (options: MoveOptions, server) => (await load()).showMove(server ?? "", options)),
  );
  command(move, "retry <server>", "go on with a move that failed, from where it failed").action(
    runs(async (options: MoveOptions, server) => (await load()).retryMove(server ?? "", options)),
  );
  command(move, "cancel <server>", "give a move up: the world stays where it is, the half-filled copy goes")
    .addOption(yes())
    .action(runs(async (options: MoveOptions, server) => (await load()).cancelMove(server ?? "", options)));
}
