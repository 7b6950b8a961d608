import { type Command, Option } from "commander";
import { type Common, command, group, runs, wholeNumber, yes } from "../program.ts";
import type { At, SaveOptions } from "./commands.ts";

const load = () => import("./commands.ts");

export function addTemplateCommands(program: Command): void {
  const template = group(program, "template", "named settings to create servers from");
  command(template, "list", {
    does: "list templates; for operators all of them, else those you may use",
    example: "template list",
  }).action(runs(async (options: Common & At) => (await load()).list(options)));
  command(template, "show <name>", { does: "show one template", example: "template show event" }).action(
    runs(async (options: Common & At, name) => (await load()).show(name ?? "", options)),
  );
  command(template, "save <name>", {
    does: "make a template, or change one; what is not given stays, and servers made of it do too",
    example: "template save event --from survival --title 'Event night' --offer",
  })
    .option("--from <server>", "take over the settings of this server")
    .option("--file <file>", "take the settings from a file, YAML or JSON")
    .option("--title <text>", "display name; empty means the name itself")
    .option("--description <text>", "one line about it")
    .option("--offer", "let accounts make servers of their own from it")
    .option("--no-offer", "keep it for staff")
    .option("--image <ref>", "server image by its tag; an empty text leaves it to the platform")
    .option("--memory <quantity>", "memory limit, for example 2Gi")
    .option("--storage <quantity>", "world volume, for example 8Gi")
    .option("--cpu <quantity>", "processor limit, for example 2 or 500m")
    .addOption(
      new Option("--policy <who>", "who may wake the server by joining").choices([
        "ownerOnly",
        "public",
        "allowlist",
      ]),
    )
    .option("--idle <seconds>", "stop after this many seconds without players; 0 = never", wholeNumber)
    .action(runs(async (options: Common & SaveOptions, name) => (await load()).save(name ?? "", options)));
  command(template, "delete <name>", {
    does: "delete a template; servers made of it stay",
    example: "template delete event --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & At & { yes?: boolean }, name) =>
        (await load()).remove(name ?? "", options),
      ),
    );
}
