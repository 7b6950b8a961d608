import { type Command, Option } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";
import type { PluginOptions } from "./commands.ts";

const load = () => import("./commands.ts");
type Given = Common & PluginOptions;

const target = (made: Command) =>
  made
    .addOption(
      new Option("--source <catalogue>", "catalogue").choices(["modrinth", "hangar"]).default("modrinth"),
    )
    .addOption(
      new Option("--loader <loader>", "what the server runs (default: as listed)").choices([
        ...["paper", "purpur", "folia", "spigot", "fabric", "quilt", "forge", "neoforge"],
      ]),
    )
    .option("--game <version>", "version of the game (default: as listed)");

export function addPluginCommands(program: Command): void {
  const plugin = group(program, "plugin", "plugins and mods of a stopped server");
  command(plugin, "list <server>", {
    does: "list plugins and mods, and what became of those that were installed here",
    example: "plugin list survival",
  }).action(runs(async (options: Given, server) => (await load()).listPlugins(server ?? "", options)));
  target(
    command(plugin, "search <server> <text>", {
      does: "look for plugins or mods that fit the server",
      example: "plugin search survival towers",
    }),
  ).action(
    runs(async (options: Given, server, text) =>
      (await load()).searchPlugins(server ?? "", text ?? "", options),
    ),
  );
  target(
    command(plugin, "versions <server> <project>", {
      does: "list the versions of a project, with why one cannot be installed",
      example: "plugin versions survival luckperms",
    }),
  ).action(
    runs(async (options: Given, server, id) => (await load()).listVersions(server ?? "", id ?? "", options)),
  );
  target(
    command(plugin, "install <server> <project> [version]", {
      does: "install or update a plugin with what it needs; without --yes the plan is only printed",
      example: "plugin install survival luckperms --yes",
    }),
  )
    .addOption(yes())
    .option("--replace-changed", "replace a file that was changed by hand")
    .action(
      runs(async (options: Given, server, ...[project, version]) =>
        (await load()).installPlugin(server ?? "", { project: project ?? "", version }, options),
      ),
    );
  target(
    command(plugin, "updates <server>", {
      does: "list newer versions of what is installed, with what is new",
      example: "plugin updates survival",
    }),
  ).action(runs(async (options: Given, server) => (await load()).listUpdates(server ?? "", options)));
  command(plugin, "remove <server> <path>", {
    does: "remove a plugin; its folder of settings stays",
    example: "plugin remove survival plugins/Essentials.jar --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Given, server, path) =>
        (await load()).removePlugin(server ?? "", path ?? "", options),
      ),
    );
}
