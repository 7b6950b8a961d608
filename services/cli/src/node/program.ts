import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";
import type { DrainOptions, ListOptions } from "./commands.ts";

const load = () => import("./commands.ts");

export function addNodeCommands(program: Command): void {
  const node = group(program, "node", "machines of the cluster: their room, and taking one out of use");
  command(node, "list", {
    does: "every node with the memory that its servers may take",
    example: "node list --memory 8Gi",
  })
    .option("--memory <size>", "say which nodes have room for a server of this size, such as 8Gi")
    .action(runs(async (options: ListOptions) => (await load()).list(options)));
  command(node, "cordon <node>", {
    does: "keep new and moved servers off a node; what runs there goes on",
    example: "node cordon node-2",
  }).action(runs(async (options: Common, name) => (await load()).cordon(name ?? "", options)));
  command(node, "uncordon <node>", {
    does: "let a node take servers again",
    example: "node uncordon node-2",
  }).action(runs(async (options: Common, name) => (await load()).uncordon(name ?? "", options)));
  command(node, "drain <node>", {
    does: "cordon a node and move its servers to others, one after another; players are told before theirs stops, and what was awake wakes again. Repeat it when it was interrupted",
    example: "node drain node-2 --yes",
  })
    .option("--to <node>", "move all of them to this node")
    .option("--leave-asleep", "do not wake what was awake")
    .addOption(yes())
    .action(runs(async (options: DrainOptions, name) => (await load()).drain(name ?? "", options)));
}
