import type { GameServer } from "flying-squid";
import { isPlayerName } from "../admission/rules.ts";
import { oneLine } from "../console/log.ts";
import { accessCommands } from "./access.ts";
import { componentNbt } from "./component.ts";
import { faultCommands } from "./faults.ts";
import { teleportCommands } from "./teleport.ts";
import type { CommandTools, OwnCommand } from "./tools.ts";

/** Adds what flying-squid lacks, and takes the place of what it does otherwise than the game. */
export function installCommands(tools: CommandTools): void {
  const commands: Record<string, OwnCommand> = {
    ...serverCommands(tools),
    ...accessCommands(tools),
    ...teleportCommands(tools.server),
    ...(tools.hasFaults && faultCommands(tools)),
  };
  for (const [base, { usage, info, isOpen, run }] of Object.entries(commands)) {
    tools.server.commands.add({
      base,
      usage: `/${usage}`,
      info,
      op: !isOpen,
      // flying-squid takes an empty argument for one that can't be parsed.
      parse: (argument) => argument.trim() || true,
      action: (argument, context) => run(argument === true ? "" : argument, context),
    });
  }
}

function serverCommands(tools: CommandTools): Record<string, OwnCommand> {
  const { server, log, maxPlayers, saveAll, requestStop } = tools;
  return {
    list: {
      usage: "list",
      info: "Who is online",
      isOpen: true,
      run: () =>
        listReply(
          server.players.map((player) => player.username),
          maxPlayers,
        ),
    },
    say: {
      usage: "say <message>",
      info: "Speaks to everyone",
      run: (message, { player }) => {
        if (!message) return "Usage: /say <message>";
        const line = oneLine(`[${player?.username ?? "Server"}] ${message}`);
        server.broadcast(line);
        log.info(line);
        return undefined;
      },
    },
    tellraw: {
      usage: "tellraw <@a|player> <text component>",
      info: "Shows a text to players",
      run: (argument) => tellraw(server, argument),
    },
    "save-all": {
      usage: "save-all [flush]",
      info: "Writes the world to disk",
      run: async () => {
        await saveAll();
        return "Saved the game";
      },
    },
    stop: {
      usage: "stop",
      info: "Saves and stops the server",
      run: () => {
        requestStop();
        return "Stopping the server";
      },
    },
  };
}

function listReply(names: readonly string[], maxPlayers: number): string {
  return `There are ${names.length} of a max of ${maxPlayers} players online: ${names.join(", ")}`;
}

function tellraw(server: GameServer, argument: string): string | undefined {
  const [, target = "", json = ""] = /^(\S+)\s+(.+)$/s.exec(argument) ?? [];
  if (target !== "@a" && !isPlayerName(target)) return "Usage: /tellraw <@a|player> <text component>";
  let content: ReturnType<typeof componentNbt>;
  try {
    content = componentNbt(JSON.parse(json));
  } catch {
    return 'The text is not valid JSON; write it as {"text":"Hello"}.';
  }
  const targets = server.players.filter((player) => target === "@a" || player.username === target);
  if (targets.length === 0) return "No player was found";
  for (const { _client } of targets) _client.write("system_chat", { content, isActionBar: false });
  return undefined;
}
