import type { Player } from "flying-squid";
import type { NameList } from "../access/lists.ts";
import { isPlayerName } from "../admission/rules.ts";
import type { CommandTools, OwnCommand } from "./tools.ts";

/** Replies are the game's own words, because people and programs know them. */
export function accessCommands(tools: CommandTools): Record<string, OwnCommand> {
  return { ...banCommands(tools), ...opCommands(tools), whitelist: whitelistCommand(tools) };
}

function findPlayer({ server }: CommandTools, name: string): Player | undefined {
  return server.players.find((player) => player.username.toLowerCase() === name.toLowerCase());
}

function nameAndReason(argument: string): { name: string; reason: string } {
  const [name = "", ...words] = argument.split(/\s+/);
  return { name, reason: words.join(" ") };
}

function banCommands(tools: CommandTools): Record<string, OwnCommand> {
  const { bans } = tools.lists;
  const source = (player: Player | undefined) => player?.username ?? "Server";
  return {
    ban: {
      usage: "ban <player> [reason]",
      info: "Keeps a player out",
      run: (argument, context) => {
        const { name, reason } = nameAndReason(argument);
        if (!isPlayerName(name)) return "Usage: /ban <player> [reason]";
        const why = reason || "Banned by an operator.";
        const created = new Date().toISOString();
        const details = { created, source: source(context.player), expires: "forever", reason: why };
        if (!bans.add(name, details)) return "Nothing changed. The player is already banned";
        findPlayer(tools, name)?.kick(`You are banned from this server. Reason: ${why}`);
        return `Banned ${name}: ${why}`;
      },
    },
    pardon: {
      usage: "pardon <player>",
      info: "Lets a banned player in again",
      run: (name) => {
        if (!isPlayerName(name)) return "Usage: /pardon <player>";
        return bans.remove(name) ? `Unbanned ${name}` : "Nothing changed. The player isn't banned";
      },
    },
    banlist: {
      usage: "banlist",
      info: "Who is banned",
      run: () => {
        const names = bans.names();
        if (names.length === 0) return "There are no bans";
        const lines = names.map((name) => {
          const entry = bans.find(name);
          return `${name} was banned by ${String(entry?.["source"] ?? "Server")}: ${String(entry?.["reason"] ?? "")}`;
        });
        return [`There are ${names.length} ban(s):`, ...lines].join("\n");
      },
    },
    kick: {
      usage: "kick <player> [reason]",
      info: "Sends a player away",
      run: (argument) => {
        const { name, reason } = nameAndReason(argument);
        const player = findPlayer(tools, name);
        if (!player) return "No player was found";
        const why = reason || "Kicked by an operator";
        player.kick(why);
        return `Kicked ${player.username}: ${why}`;
      },
    },
  };
}

function opCommands(tools: CommandTools): Record<string, OwnCommand> {
  const { ops } = tools.lists;
  const set = (name: string, isOp: boolean) => {
    const player = findPlayer(tools, name);
    if (player) player.op = isOp;
  };
  return {
    op: {
      usage: "op <player>",
      info: "Makes a player an operator",
      run: (name) => {
        if (!isPlayerName(name)) return "Usage: /op <player>";
        if (!ops.add(name, { level: 4, bypassesPlayerLimit: false })) {
          return "Nothing changed. The player already is an operator";
        }
        set(name, true);
        return `Made ${name} a server operator`;
      },
    },
    deop: {
      usage: "deop <player>",
      info: "Takes operator rights away",
      run: (name) => {
        if (!isPlayerName(name)) return "Usage: /deop <player>";
        if (!ops.remove(name)) return "Nothing changed. The player is not an operator";
        set(name, false);
        return `Made ${name} no longer a server operator`;
      },
    },
  };
}

function whitelistCommand({ lists }: CommandTools): OwnCommand {
  const usage = "whitelist <on|off|list|reload|add|remove> [player]";
  const change = (name: string, isAdd: boolean) => {
    if (!isPlayerName(name)) return `Usage: /${usage}`;
    if (isAdd)
      return lists.whitelist.add(name) ? `Added ${name} to the whitelist` : "Player is already whitelisted";
    return lists.whitelist.remove(name) ? `Removed ${name} from the whitelist` : "Player is not whitelisted";
  };
  const turn = (on: boolean) => {
    const word = on ? "on" : "off";
    if (lists.isWhitelistOn() === on) return `Whitelist is already turned ${word}`;
    lists.setWhitelistOn(on);
    return `Whitelist is now turned ${word}`;
  };
  const actions: Record<string, (name: string) => string> = {
    on: () => turn(true),
    off: () => turn(false),
    add: (name) => change(name, true),
    remove: (name) => change(name, false),
    list: () => whitelistReply(lists.whitelist),
    reload: () => {
      lists.whitelist.reload();
      return "Reloaded the whitelist";
    },
  };
  const run = (argument: string) => {
    const [action = "", name = ""] = argument.split(/\s+/);
    return Object.hasOwn(actions, action) ? actions[action]?.(name) : `Usage: /${usage}`;
  };
  return { usage, info: "Who may join while the whitelist is on", run };
}

function whitelistReply(whitelist: NameList): string {
  const names = whitelist.names();
  if (names.length === 0) return "There are no whitelisted players";
  return `There are ${names.length} whitelisted player(s): ${names.join(", ")}`;
}
