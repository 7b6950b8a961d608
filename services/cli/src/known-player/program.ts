import { type Command, Option } from "commander";
import { type Common, command, group, list, runs, yes } from "../program.ts";
import type { AccessOptions, ListOptions, NoteOptions } from "./commands.ts";

const load = () => import("./commands.ts");

const accessCommands = [
  ["ban", "ban", "ban a player on several servers"],
  ["pardon", "pardon", "lift the ban of a player on several servers"],
  ["whitelist", "whitelist-add", "put a player on the whitelist of several servers"],
  ["unwhitelist", "whitelist-remove", "take a player off the whitelist of several servers"],
] as const;

export function addKnownPlayerCommands(program: Command): void {
  const known = group(program, "known-players", "who played on your servers, notes about them, and bans");
  command(known, "list", {
    does: "players of one server, or of all whose players you may see",
    example: "known-players list --server survival --sort played",
  })
    .option("--server <name>", "only of this server")
    .option("--search <text>", "part of a name")
    .addOption(new Option("--sort <order>", "what comes first").choices(["last_seen", "played", "name"]))
    .option("--all", "all of them, not only the first hundred")
    .action(runs(async (options: Common & ListOptions) => (await load()).list(options)));
  command(known, "show <player>", {
    does: "where a player was, how long and when, with notes; by name or UUID",
    example: "known-players show Steve",
  }).action(runs(async (options, who) => (await load()).show(who ?? "", options)));
  for (const [name, action, does] of accessCommands) {
    command(known, `${name} <player>`, {
      does,
      example: `known-players ${name} Steve --servers survival,creative`,
    })
      .option("--servers <names>", "comma separated, 50 at most", list)
      .action(
        runs(async (options: Common & AccessOptions, who) =>
          (await load()).change(action, who ?? "", options),
        ),
      );
  }
  const server = () => new Option("--server <name>", "the server it is about").makeOptionMandatory();
  command(known, "note <player> <text>", {
    does: "write a note about a player whom the server knows; the player can read it",
    example: 'known-players note Steve "Helped to build the town." --server survival',
  })
    .addOption(server())
    .action(
      runs(async (options: Common & NoteOptions, who, text) =>
        (await load()).addNote(who ?? "", text ?? "", options),
      ),
    );
  command(known, "remove-note <player> <id>", {
    does: "delete a note",
    example: "known-players remove-note Steve note-0a1b2c3d4e5f60718293 --server survival",
  })
    .addOption(server())
    .action(
      runs(async (options: Common & NoteOptions, who, id) =>
        (await load()).removeNote(who ?? "", id ?? "", options),
      ),
    );
  addOwnCommands(known);
}

function addOwnCommands(known: Command): void {
  command(known, "my-data <uuid>", {
    does: "all that is kept about a player of your own, as JSON",
    example: "known-players my-data b4f7e65c-ed9c-3510-88fa-a3f669cd7244",
  }).action(runs(async (options, uuid) => (await load()).readData(uuid ?? "", options)));
  command(known, "erase-my-data <uuid>", {
    does: "erase what servers know about a player of your own, for good",
    example: "known-players erase-my-data b4f7e65c-ed9c-3510-88fa-a3f669cd7244 --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Common & { yes?: boolean }, uuid) =>
        (await load()).eraseData(uuid ?? "", options),
      ),
    );
}
