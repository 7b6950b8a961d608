import type { Command } from "commander";
import { type Common, command, group, runs, yes } from "../program.ts";

type Yes = Common & { yes?: boolean };

export function addUserCommands(program: Command): void {
  const user = group(program, "user", "accounts");
  command(user, "list", { does: "list users, newest first", example: "user list --query alex" })
    .option("--query <text>", "part of a name or an address")
    .action(
      runs(async (options: Common & { query?: string }) =>
        (await import("../host/users.ts")).listUsers(options),
      ),
    );
  command(user, "show <user>", {
    does: "show a user by name, id or verified address",
    example: "user show alex",
  }).action(runs(async (options, who) => (await import("../host/users.ts")).showUser(who ?? "", options)));
  command(user, "disable <user>", {
    does: "disable a user and end all their sessions",
    example: "user disable alex --yes",
  })
    .addOption(yes())
    .action(
      runs(async (options: Yes, who) => (await import("./disable.ts")).disableUser(who ?? "", options)),
    );
  command(user, "enable <user>", {
    does: "enable a disabled user",
    example: "user enable alex",
  }).action(runs(async (options, who) => (await import("./disable.ts")).enableUser(who ?? "", options)));
}
