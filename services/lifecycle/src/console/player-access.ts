// Whitelist, bans, kicks and online players: each is one command of the game, whose arguments the contract has validated.

import type { Handler } from "@svc/mesh";
import { consoles } from "@svc/proto";
import { parsePlayerList } from "@svc/rcon";
import { authorizeCommands } from "./authorize.ts";
import { audit, type ConsoleDeps } from "./deps.ts";
import { bannedIn, whitelistedIn } from "./reply/names.ts";

export const listWhitelist =
  (deps: ConsoleDeps): Handler<typeof consoles.listWhitelist> =>
  async (context, { name }) => {
    const output = await deps.rcon.query(
      await authorizeCommands(deps, context, { name, to: consoles.listWhitelist }),
      "whitelist list",
    );
    return { name, players: whitelistedIn(output), output };
  };

export const changeWhitelist =
  (deps: ConsoleDeps): Handler<typeof consoles.changeWhitelist> =>
  async (context, { name, action, player }) => {
    const server = await authorizeCommands(deps, context, { name, to: consoles.changeWhitelist });
    await audit(deps, context, {
      action: "access.whitelist",
      server_name: name,
      payload: { action, player },
    });
    return { name, action, player, output: await deps.rcon.run(server, `whitelist ${action} ${player}`) };
  };

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
  async (context, { name }) => {
    const output = await deps.rcon.query(
      await authorizeCommands(deps, context, { name, to: consoles.listBans }),
      "banlist",
    );
    return { name, players: bannedIn(output), output };
  };

export const changeBan =
  (deps: ConsoleDeps): Handler<typeof consoles.changeBan> =>
  async (context, { name, action, player }) => {
    const server = await authorizeCommands(deps, context, { name, to: consoles.changeBan });
    await audit(deps, context, { action: "access.ban", server_name: name, payload: { action, player } });
    return { name, action, player, output: await deps.rcon.run(server, `${action} ${player}`) };
  };

export const kick =
  (deps: ConsoleDeps): Handler<typeof consoles.kick> =>
  async (context, { name, player }) => {
    const server = await authorizeCommands(deps, context, { name, to: consoles.kick });
    await audit(deps, context, { action: "access.kick", server_name: name, payload: { player } });
    return { name, player, output: await deps.rcon.run(server, `kick ${player}`) };
  };
