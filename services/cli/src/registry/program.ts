import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

export function addRegistryCommands(program: Command): void {
  const registry = group(program, "registry", "the registry of images");
  command(registry, "list", {
    does: "list repositories and tags of this machine's registry",
    example: "registry list",
  }).action(runs(async (options) => (await import("./commands.ts")).listRegistry(options)));
  command(registry, "provenance <image>", {
    does: "show what an image in the platform's registry was built from, and with what",
    example: "registry provenance 127.0.0.1:5000/packs/skyblock:1.0",
  }).action(
    runs(async (options, image) =>
      (await import("./commands.ts")).showProvenance({ ...options, image: image ?? "" }),
    ),
  );
  command(registry, "prune", {
    does: "delete the images that nothing keeps",
    example: "registry prune --yes",
  })
    .addOption(yes())
    .option("--dry-run", "only print the plan, even with --yes")
    .action(
      runs(async (options: Common & { yes?: boolean; dryRun?: boolean }) =>
        (await import("./commands.ts")).pruneRegistry(options),
      ),
    );
}
