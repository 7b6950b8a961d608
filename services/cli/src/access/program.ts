import type { Command } from "commander";
import { type Common, command, group, list, repeat, runs, wholeNumber } from "../program.ts";
import type { ChangeOptions, InviteOptions } from "./commands.ts";

const load = () => import("./commands.ts");

/** What is given: a preset, and rights and limits beside it. */
function grantOptions(one: Command): Command {
  return one
    .option("--preset <name>", "helper, builder or co-owner")
    .option("--right <rights>", "rights, comma separated, such as see,power; a wrong one lists all", list)
    .option("--read <path>", "read only this file or folder, also in backups; may be repeated", repeat)
    .option("--write <path>", "change only this file or folder, also from backups; may be repeated", repeat)
    .option("--allow <command>", "with command: only commands that begin so; may be repeated", repeat)
    .option("--deny <command>", "with command: none that begins so; may be repeated", repeat)
    .option(
      "--until <date>",
      "when the access ends: a date, which counts to its end here, or a time (default: never)",
    );
}

export function addAccessCommands(program: Command): void {
  const access = group(program, "access", "share a server with others, and accept what others share");
  command(access, "list <server>", {
    does: "whom a server is shared with",
    example: "access list survival",
  }).action(runs(async (options, server) => (await load()).listAccess(server ?? "", options)));
  grantOptions(
    command(access, "invite <server>", {
      does: "invite by a link that is shown this once, by mail address or by game name",
      example: "access invite survival --preset builder --player Steve",
    })
      .option("--email <address>", "the person who has verified this address")
      .option("--player <name>", "the person who is linked to this player"),
  )
    .option("--days <days>", "days that the invitation is open", wholeNumber, 7)
    .action(
      runs(async (options: Common & InviteOptions, server) => (await load()).invite(server ?? "", options)),
    );
  grantOptions(
    command(access, "change <server> <member>", {
      does: "replace rights, limits and end of a member, by user name or id",
      example: "access change survival ada --preset helper --until 2026-12-31",
    }),
  ).action(
    runs(async (options: Common & ChangeOptions, server, member) =>
      (await load()).change(server ?? "", member ?? "", options),
    ),
  );
  command(access, "remove <server> <member>", {
    does: "end somebody's access at once, or take an invitation back by its id",
    example: "access remove survival ada",
  }).action(
    runs(async (options, server, member) => (await load()).remove(server ?? "", member ?? "", options)),
  );
  command(access, "show <server>", {
    does: "what you may do at a server",
    example: "access show survival",
  }).action(runs(async (options, server) => (await load()).showMine(server ?? "", options)));
  command(access, "leave <server>", {
    does: "end your own access to a server of somebody else",
    example: "access leave survival",
  }).action(runs(async (options, server) => (await load()).leave(server ?? "", options)));
  command(access, "invitations", {
    does: "open invitations to your address and your players",
    example: "access invitations",
  }).action(runs(async (options) => (await load()).listInvitations(options)));
  command(access, "accept <invitation>", {
    does: "accept an invitation by its id, or by the secret of a link",
    example: "access accept inv-1a2b3c",
  }).action(runs(async (options, which) => (await load()).accept(which ?? "", options)));
  command(access, "decline <invitation>", {
    does: "decline an invitation; nobody can accept it any more",
    example: "access decline inv-1a2b3c",
  }).action(runs(async (options, which) => (await load()).decline(which ?? "", options)));
}
