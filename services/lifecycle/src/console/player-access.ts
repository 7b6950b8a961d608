// Whitelist, bans, kicks and online players: each is one command of the game, whose arguments the contract has validated.

import type { Context, Handler } from "@svc/mesh";
import { type AnyContract, consoles, type InputOf } from "@svc/proto";
import { parsePlayerList } from "@svc/rcon";
import { authorizeCommands } from "./authorize.ts";
import { audit, type CommandDeps, type ConsoleDeps } from "./deps.ts";
import { bannedIn, whitelistedIn } from "./reply/names.ts";

type Caller = Context<AnyContract>;

export async function readWhitelist(deps: CommandDeps, context: Caller, name: string) {
  const server = await authorizeCommands(deps, context, { name, to: consoles.listWhitelist });
  const output = await deps.rcon.query(server, "whitelist list");
  return { name, players: whitelistedIn(output), output };
}

export async function whitelist(
  deps: CommandDeps,
  context: Caller,
  { name, action, player }: InputOf<typeof consoles.changeWhitelist>,
) {
  const server = await authorizeCommands(deps, context, { name, to: consoles.changeWhitelist });
  await audit(deps, context, { action: "access.whitelist", server_name: name, payload: { action, player } });
  return { name, action, player, output: await deps.rcon.run(server, `whitelist ${action} ${player}`) };
}

export async function readBans(deps: CommandDeps, context: Caller, name: string) {
  const server = await authorizeCommands(deps, context, { name, to: consoles.listBans });
  const output = await deps.rcon.query(server, "banlist");
  return { name, players: bannedIn(output), output };
}

export async function ban(
  deps: CommandDeps,
  context: Caller,
  { name, action, player }: InputOf<typeof consoles.changeBan>,
) {
  const server = await authorizeCommands(deps, context, { name, to: consoles.changeBan });
  await audit(deps, context, { action: "access.ban", server_name: name, payload: { action, player } });
  return { name, action, player, output: await deps.rcon.run(server, `${action} ${player}`) };
}

export const listWhitelist =
  (deps: ConsoleDeps): Handler<typeof consoles.listWhitelist> =>
  (context, { name }) =>
    readWhitelist(deps, context, name);

export const changeWhitelist =
  (deps: ConsoleDeps): Handler<typeof consoles.changeWhitelist> =>
  (context, wanted) =>
    whitelist(deps, context, wanted);

export const listPlayers =
  (deps: ConsoleDeps): Handler<typeof consoles.listPlayers> =>
  async (context, { name }) => {
    const server = await authorizeCommands(deps, context, { name, to: consoles.listPlayers });
    const output = await deps.rcon.query(server, "list");
    const counted = server.status?.players;
    const list = parsePlayerList(output);
    return {
      name,
      online: list?.online ?? Math.max(0, counted?.online ?? 0),
      max: list?.max ?? Math.max(0, counted?.max ?? 0),
      players: list?.players ?? [],
      output,
    };
  };

export const listBans =
  (deps: ConsoleDeps): Handler<typeof consoles.listBans> =>
  (context, { name }) =>
    readBans(deps, context, name);

export const changeBan =
  (deps: ConsoleDeps): Handler<typeof consoles.changeBan> =>
  (context, wanted) =>
    ban(deps, context, wanted);

export const kick =
  (deps: ConsoleDeps): Handler<typeof consoles.kick> =>
  async (context, { name, player }) => {
    const server = await authorizeCommands(deps, context, { name, to: consoles.kick });
    await audit(deps, context, { action: "access.kick", server_name: name, payload: { player } });
    return { name, player, output: await deps.rcon.run(server, `kick ${player}`) };
  };
