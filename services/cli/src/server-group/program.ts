import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";
import type { RunOptions, SetOptions } from "./commands.ts";

const load = () => import("./commands.ts");

function givenOptions(one: Command): Command {
  return one
    .option(
      "--stage <servers>",
      "servers that start together, with commas between them; repeated for the next stage",
      (stage: string, before: string[] | undefined) => [...(before ?? []), stage],
    )
    .option("--for <span>", "how long a stage is waited for, such as 90s or 10m (default: 10m)");
}

function runCommand(groups: Command, name: "start" | "stop", does: string): void {
  command(groups, `${name} <group>`, { does, example: `group ${name} Evening --wait` })
    .option("--wait", "follow it to its end; exit with 1 unless all went well")
    .action(runs(async (options: RunOptions, one) => (await load()).begin(name, one ?? "", options)));
}

export function addGroupCommands(program: Command): void {
  const groups = group(program, "group", "servers that start and stop together, in order");
  command(groups, "list", { does: "your groups with their last runs", example: "group list" }).action(
    runs(async (options) => (await load()).list(options)),
  );
  command(groups, "show <group>", {
    does: "one group, and how each server ended in its last run",
    example: "group show Evening",
  }).action(runs(async (options, one) => (await load()).show(one ?? "", options)));
  givenOptions(
    command(groups, "create <name>", {
      does: "make a group; its stages start in the order in which they are given",
      example: "group create Evening --stage hub --stage survival,creative",
    }),
  ).action(runs(async (options: SetOptions, name) => (await load()).create(name ?? "", options)));
  givenOptions(
    command(groups, "set <group>", {
      does: "change a group; what is not given stays, and --stage replaces all stages",
      example: "group set Evening --for 15m",
    }),
  )
    .option("--name <name>", "another name")
    .action(runs(async (options: SetOptions, one) => (await load()).set(one ?? "", options)));
  command(groups, "delete <group>", {
    does: "delete a group; its servers stay as they are",
    example: "group delete Evening --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, one) => (await load()).remove(one ?? "", options)),
    );
  runCommand(groups, "start", "start its servers, a stage when the former is ready");
  runCommand(groups, "stop", "stop its servers, the last stage first");
  command(groups, "cancel <group>", {
    does: "end a run; servers that were asked already go on",
    example: "group cancel Evening",
  }).action(runs(async (options, one) => (await load()).cancel(one ?? "", options)));
}
