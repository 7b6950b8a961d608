import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { GameServer, Player, Plugin, PluginTable, ProtocolClient } from "flying-squid";
import type { AccessLists } from "./access/lists.ts";
import { declareCommands } from "./command/declare.ts";
import { explain } from "./command/runner.ts";
import type { DemoConfig } from "./config.ts";
import type { Log } from "./console/log.ts";
import { listPlayers } from "./tab-list.ts";
import { allowLaterVersions, writeForVersion } from "./version/later-versions.ts";
import { containChunkFailures, serializeColumns } from "./world/columns.ts";

const startTimeoutMs = 30_000;
/** In chunks. */
const viewDistance = 4;

type GameOptions = {
  readonly config: DemoConfig;
  readonly consolePlugin: Plugin;
  /** Sees the server before anyone can connect. */
  readonly prepare: (server: GameServer) => void;
};

/** Starts the game itself and resolves once players can join. */
export async function startGame({ config, consolePlugin, prepare }: GameOptions): Promise<GameServer> {
  const require = createRequire(import.meta.url);
  allowLaterVersions(require);
  const { createMCServer } = require("flying-squid") as typeof import("flying-squid");
  usePlugins(require, consolePlugin);
  keepLevelFiles(require);
  const server = createMCServer({
    ...fixedOptions,
    version: config.version,
    host: config.host,
    port: config.gamePort,
    motd: config.motd,
    "max-players": config.maxPlayers,
    worldFolder: join(config.dataDir, "world"),
    errorHandler: (client: ProtocolClient) => client.end("The server could not read what your client sent."),
  });
  // Else "constructor" and its like would be taken for commands.
  Object.setPrototypeOf(server.commands.hash, null);
  // The texts use `&` for colours, which clients since 1.20.3 show as it is.
  for (const [name, code] of Object.entries(server.color)) server.color[name] = code.replace("&", "§");
  writeForVersion(server);
  prepare(server);
  const failed = new Promise<never>((_, reject) => server.once("error", reject));
  await Promise.race([server.waitForReady(startTimeoutMs), failed]);
  layFloor(server);
  serializeColumns(server.overworld);
  return server;
}

type LevelModule = { level: { writeLevel: (path: string, value: object) => Promise<void> } };

/** The original replaces a level.dat in which it finds no seed: those of worlds that came from another program. */
function keepLevelFiles(require: NodeJS.Require): void {
  const requireOfGame = createRequire(require.resolve("flying-squid/package.json"));
  const { level } = requireOfGame("prismarine-provider-anvil") as LevelModule;
  const writeLevel = level.writeLevel;
  level.writeLevel = async (path, value) => {
    if (!existsSync(path)) await writeLevel(path, value);
  };
}

/** The search for a place to spawn goes down until it meets a block; where all are dug away it would never end. */
function layFloor({ overworld }: GameServer): void {
  const getBlockType = overworld.getBlockType.bind(overworld);
  overworld.getBlockType = async (position) => (position.y < 0 ? 1 : getBlockType(position));
}

const fixedOptions = {
  "online-mode": false,
  logging: false,
  // Any value keeps flying-squid from handling uncaught exceptions itself: it would exit with status 0.
  debug: () => {},
  hideErrors: true,
  gameMode: 1,
  difficulty: 1,
  generation: { name: "superflat", options: { seed: 1 } },
  kickTimeout: 30_000,
  plugins: {},
  modpe: false,
  "view-distance": viewDistance,
  "player-list-text": { header: { text: "" }, footer: { text: "" } },
  "everybody-op": false,
  "max-entities": 50,
};

/** All plugins of flying-squid but its console and its handling of uncaught exceptions, which take the process over. */
function usePlugins(require: NodeJS.Require, consolePlugin: Plugin): void {
  const table = require("flying-squid/src/lib/plugins/index.js") as PluginTable;
  const dir = join(dirname(require.resolve("flying-squid/package.json")), "src/lib/plugins");
  const left = new Set(["index.js", "log.js", "errorHandler.js"]);
  table.initPlugins = () => {
    const names = readdirSync(dir).filter((name) => name.endsWith(".js") && !left.has(name));
    const builtin = names.sort().map((name) => require(join(dir, name)) as Plugin);
    table.builtinPlugins = [consolePlugin, ...builtin];
  };
}

/** What goes wrong for one player ends that player's connection; flying-squid itself would end the process. */
export function containPlayers(server: GameServer, { log, lists }: { log: Log; lists: AccessLists }): void {
  server.on("newPlayer", (player: Player) => {
    listPlayers(server);
    containChunkFailures(player, log);
    // Clients since 1.20.2 tell it before there is a player to tell it to, and the original never learns of it: then it
    // would send no chunk beyond the few of the join.
    player.view = viewDistance;
    const login = player.login;
    player.login = async () => {
      try {
        await login();
      } catch (error) {
        if (player.disconnected) return;
        log.error(`A login failed: ${error instanceof Error ? error.stack : String(error)}`);
        player._client.end("The login failed inside the server; its log says why.");
      }
    };
    player.once("connected", () => {
      player.op = lists.ops.has(player.username);
    });
    // The login packet says survival whatever the mode is.
    player.once("spawned", () => {
      player.setGameMode(player.gameMode);
      declareCommands(server, player);
    });
    player.handleCommand = async (line) => {
      try {
        const reply = await server.commands.use(line, { player }, player.op);
        if (reply) player.chat(reply);
      } catch (error) {
        player.chat(explain(line, error, log));
      }
    };
  });
}
