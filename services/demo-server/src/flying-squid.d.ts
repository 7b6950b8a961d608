// flying-squid ships no types. Only what this service uses is described, as read from its source at 1.12.0.

declare module "flying-squid" {
  import type { EventEmitter } from "node:events";

  export type ProfileProperty = {
    readonly name: string;
    readonly value: string;
    readonly signature?: string;
  };

  /** minecraft-protocol's server side of one connection. */
  export type ProtocolClient = EventEmitter & {
    username: string;
    uuid: string;
    /** Decides by which ids packets are read and written. */
    state: string;
    profile?: { readonly properties: readonly ProfileProperty[] };
    readonly latency?: number;
    readonly socket: { readonly remoteAddress?: string };
    write(packet: string, fields: Readonly<Record<string, unknown>>): void;
    end(reason: string): void;
  };

  /** In blocks; `offset` makes a new one. */
  export type Position = {
    readonly x: number;
    readonly y: number;
    readonly z: number;
    offset(x: number, y: number, z: number): Position;
  };

  export type Player = EventEmitter & {
    readonly username: string;
    readonly uuid: string;
    readonly disconnected?: boolean;
    readonly _client: ProtocolClient;
    readonly gameMode: number;
    readonly profileProperties?: readonly ProfileProperty[];
    readonly position: Position;
    op: boolean;
    setGameMode(mode: number): void;
    teleport(position: Position): Promise<void>;
    login(): Promise<void>;
    save(): Promise<void>;
    /** How far the client sees, in chunks. */
    view: number;
    worldSendRestOfChunks(): Promise<void>;
    kick(reason: string): void;
    chat(text: string): void;
    system(text: string): void;
    handleCommand(line: string): Promise<void>;
  };

  export type QueuedColumn = { readonly chunkX: number; readonly chunkZ: number };

  export type World = {
    readonly columns: Record<string, object | undefined>;
    readonly savingQueue: Map<string, QueuedColumn>;
    readonly unloadQueue: Map<string, QueuedColumn>;
    readonly storageProvider: {
      load(chunkX: number, chunkZ: number): Promise<object | null>;
      save(chunkX: number, chunkZ: number, column: object): Promise<void>;
      close(): Promise<unknown>;
    };
    getBlockType(position: { readonly y: number }): Promise<number>;
    getColumn(chunkX: number, chunkZ: number): Promise<object | undefined>;
    saveNow(): Promise<void>;
    stopSaving(): void;
    queueSaving(chunkX: number, chunkZ: number): void;
    forceUnloadColumn(key: string, chunkX: number, chunkZ: number): void;
  };

  export type CommandContext = { readonly player?: Player };

  export type CommandSpec = {
    readonly base: string;
    readonly info: string;
    readonly usage: string;
    readonly op: boolean;
    readonly parse: (argument: string) => string | true;
    readonly action: (
      argument: string | true,
      context: CommandContext,
    ) => string | undefined | Promise<string | undefined>;
  };

  export type GameServer = EventEmitter & {
    readonly players: Player[];
    readonly overworld: World;
    /** Tells a player of everybody, and everybody of a player. */
    _sendPlayerList: (to: Player) => void;
    _sendPlayerEventNewJoin: (player: Player) => void;
    readonly _worldChunksUsed: Record<string, number | undefined>;
    readonly listeningPort: number;
    readonly color: Record<string, string>;
    readonly commands: {
      readonly hash: Record<string, unknown>;
      readonly uniqueHash: Record<string, { readonly params: { readonly op?: boolean } }>;
      add(spec: CommandSpec): unknown;
      use(line: string, context?: CommandContext, op?: boolean): Promise<string | undefined>;
    };
    readonly _server: EventEmitter & {
      readonly options: { beforeLogin?: (client: ProtocolClient) => void };
      /** Writes a packet once for several. */
      writeToClients(
        clients: readonly ProtocolClient[],
        packet: string,
        fields: Readonly<Record<string, unknown>>,
      ): void;
      readonly mcversion: { readonly version: number; readonly minecraftVersion: string };
    };
    debug: (...details: unknown[]) => void;
    log(text: string): void;
    info(text: string): void;
    warn(text: string): void;
    err(text: string): void;
    broadcast(text: string, options?: { readonly system?: boolean }): void;
    waitForReady(timeoutMs: number): Promise<unknown>;
    destroy(): Promise<unknown>;
  };

  export type Plugin = {
    readonly server?: (server: GameServer, options: Record<string, unknown>) => unknown;
    readonly player?: (player: Player, server: GameServer, options: Record<string, unknown>) => unknown;
    readonly entity?: (entity: object, server: GameServer, options: Record<string, unknown>) => unknown;
  };

  /** The module `flying-squid/src/lib/plugins/index.js`; the server asks it for its plugins when it is made. */
  export type PluginTable = { builtinPlugins: Plugin[] | null; initPlugins: () => void };

  export function createMCServer(options: Record<string, unknown>): GameServer;
}
