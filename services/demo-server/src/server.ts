import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startRconServer } from "@svc/rcon";
import type { GameServer } from "flying-squid";
import { openAccessLists } from "./access/lists.ts";
import { installGate } from "./admission/gate.ts";
import { installCommands } from "./command/install.ts";
import { type CommandRunner, createCommandRunner } from "./command/runner.ts";
import type { DemoConfig } from "./config.ts";
import type { Log } from "./console/log.ts";
import { createConsole } from "./console/plugin.ts";
import { containPlayers, startGame } from "./game.ts";
import { ensureProperties } from "./properties.ts";
import { createWorldSaver, type WorldSaver } from "./world/save.ts";

export type DemoServer = {
  readonly run: CommandRunner;
  /** Sends everyone away, saves, and stops listening. A second call waits for the first. */
  stop(): Promise<void>;
};

type Options = {
  readonly config: DemoConfig;
  readonly log: Log;
  /** Called when somebody asks for a stop by command; the caller then calls `stop` and ends the process. */
  readonly onStopRequest: () => void;
};

const leaveTimeoutMs = 2_000;

export async function startDemoServer({ config, log, onStopRequest }: Options): Promise<DemoServer> {
  mkdirSync(config.dataDir, { recursive: true });
  ensureProperties(config.dataDir, initialProperties(config));
  const lists = openAccessLists(config.dataDir);
  const { plugin, capture } = createConsole(log);
  let stopping: Promise<void> | undefined;
  let saver: WorldSaver | undefined;

  const prepare = (server: GameServer) => {
    containPlayers(server, { log, lists });
    installGate(server, {
      lists,
      log,
      maxPlayers: config.maxPlayers,
      forwardingSecrets: config.forwardingSecrets,
      isStopping: () => stopping !== undefined,
      savesSettled: async () => saver?.playersSettled(),
    });
  };
  const server = await startGame({ config, consolePlugin: plugin, prepare });
  const worldSaver = createWorldSaver(server, log);
  saver = worldSaver;
  installCommands({
    server,
    lists,
    log,
    maxPlayers: config.maxPlayers,
    saveAll: worldSaver.saveAll,
    requestStop: onStopRequest,
    hasFaults: config.hasFaults,
  });
  log.info(`Starting Minecraft server on ${config.host}:${server.listeningPort}`);
  const run = createCommandRunner(server, capture, log);
  const rcon = await startRcon(config, run, log);
  const stop = async () => {
    log.info("Stopping server");
    log.info("Saving players");
    await sendAway(server);
    log.info("Saving worlds");
    await worldSaver.close();
    await rcon?.close();
    await server.destroy();
    log.info("All dimensions are saved");
  };
  return {
    run,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function startRcon(config: DemoConfig, run: CommandRunner, log: Log) {
  if (!config.rconPassword) {
    log.warn("RCON is off: set RCON_PASSWORD to turn it on.");
    return undefined;
  }
  const { host, rconPort, rconPassword } = config;
  const rcon = await startRconServer({ host, port: rconPort, password: rconPassword, onCommand: run });
  log.info(`RCON running on ${host}:${rcon.port}`);
  return rcon;
}

/** Waits for the players to be gone, because leaving is what writes their position. */
async function sendAway(server: GameServer): Promise<void> {
  const everyone = [...server.players].map(async (player) => {
    const left = once(player, "disconnected");
    await player.save();
    player.kick("Server closed");
    await left;
  });
  await Promise.race([Promise.all(everyone), delay(leaveTimeoutMs, undefined, { ref: false })]);
}

function initialProperties(config: DemoConfig): Record<string, string> {
  return {
    "enable-rcon": String(config.rconPassword !== undefined),
    difficulty: "easy",
    gamemode: "creative",
    "level-name": "world",
    "level-type": "minecraft:flat",
    "max-players": String(config.maxPlayers),
    motd: config.motd,
    "online-mode": "false",
    "rcon.password": config.rconPassword ?? "",
    "rcon.port": String(config.rconPort),
    "server-port": String(config.gamePort),
    "view-distance": "4",
    "white-list": "false",
  };
}
