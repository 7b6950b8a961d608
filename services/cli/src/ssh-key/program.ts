import type { Command } from "commander";
import { type Common, command, group, runs } from "../program.ts";

const load = () => import("./commands.ts");

export function addKeyCommands(program: Command): void {
  const keys = group(program, "keys", "SSH keys of your account, for SFTP");
  command(keys, "add <file>", {
    does: "add the public key of a file, such as ~/.ssh/id_ed25519.pub",
    example: "keys add ~/.ssh/id_ed25519.pub --name laptop",
  })
    .option("--name <name>", "name of the key (default: its comment)")
    .action(
      runs(async (options: Common & { name?: string }, file) => (await load()).addKey(file ?? "", options)),
    );
  command(keys, "list", {
    does: "your keys with their last use, and where SFTP is",
    example: "keys list",
  }).action(runs(async (options) => (await load()).listKeys(options)));
  command(keys, "remove <id>", {
    does: "remove a key by its id, name or fingerprint; its connections end at once",
    example: "keys remove laptop",
  }).action(runs(async (options, id) => (await load()).removeKey(id ?? "", options)));
}
