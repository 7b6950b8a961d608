import { MinecraftFault } from "../fault.ts";
import { type Backend, dial } from "../login/dial.ts";
import { kick, type Player } from "../login/player.ts";
import type { CommandWord } from "../packet/commands.ts";
import { type PluginMessage, packets, type Title } from "../packet/play.ts";
import { plainText as plain, type Text } from "../packet/text.ts";
import type { Connection } from "../wire/connection.ts";
import { keepAlive, remember } from "./keep-alive.ts";
import { attach, type Link, type LinkEvents } from "./link.ts";
import type { ReachingPacket } from "./packet-filter.ts";

/** What a proxy hears of one player. None may throw. */
type BridgeHooks = {
  /** A command without its slash; true keeps it from the server. Signed commands come too. */
  readonly onCommand?: (command: string) => boolean;
  /** Commands that clients on this server complete by Tab, beside the server's own. */
  readonly commandsOn?: (server: string) => readonly CommandWord[];
  /** Words for the end of a line that the player is typing; undefined leaves the question to the server. */
  readonly onComplete?: (line: string) => readonly string[] | undefined;
  /**
   * A plugin message of a server; true keeps it from the client. `svc:control` never passes, in either direction, and a
   * client's own is dropped without a word.
   */
  readonly onServerMessage?: (message: PluginMessage, server: string) => boolean;
  /** A plugin message of the client; true keeps it from the server. */
  readonly onClientMessage?: (message: PluginMessage) => boolean;
  /**
   * A server sends something that reaches beyond the player's stay on it: to another address, or into what the client
   * keeps (`key` is the cookie's). True keeps it from the client; without this hook everything passes.
   */
  readonly onReaching?: (packet: ReachingPacket, server: string, key: string | undefined) => boolean;
  /** The player is in the world of this server. */
  readonly onJoined?: (server: string) => void;
  /** The server kicked the player (with its words) or is gone; the player stays connected and waits for `connect`. */
  readonly onLost?: (server: string, reason: Text | undefined) => void;
};

/** A player behind the proxy, from login to the end of the connection. */
export type Bridge = {
  readonly player: Player;
  /** The server the player is on or is just being configured for. */
  readonly server: string | undefined;
  /** The player is in a world: texts are shown at once. */
  readonly isInWorld: boolean;
  /**
   * Takes the player to a server: the first one, the next one (through the configuration phase), or one after a loss.
   * Resolves when the player is in its world. Until the new server has taken the login, nothing changes for the player;
   * `refused`, `unavailable`, `timeout` and `unsupported` before that leave them where they are. One at a time: `busy`.
   */
  readonly connect: (backend: Backend) => Promise<void>;
  /**
   * A line of chat (or above the hotbar). Between two worlds it is kept for the next one, up to 16 lines; false when it
   * can be neither shown nor kept.
   */
  readonly message: (text: Text, overlay?: boolean) => boolean;
  /** False when the player is in no world at the moment. */
  readonly title: (title: Title) => boolean;
  /** A plugin message to the current server; false when there is none. */
  readonly sendToServer: (message: PluginMessage) => boolean;
  readonly transfer: (target: { readonly host: string; readonly port: number }) => void;
  /** Leaves up to 5 KiB with the client, also over a transfer. */
  readonly storeCookie: (key: string, value: Buffer) => void;
  /**
   * What the client has under this key: undefined for nothing, for no answer in `timeoutMs`, and unless the player waits
   * for the first `connect`. Whatever it is, the client may have made it up.
   */
  readonly askCookie: (key: string, timeoutMs: number) => Promise<Buffer | undefined>;
  readonly kick: (reason: Text) => void;
};

/** How long a client may take to leave its world, and a server to configure it. */
type BridgeLimits = {
  readonly acknowledgeTimeoutMs?: number;
  readonly configurationTimeoutMs?: number;
};

const maxKeptLines = 16;

type State = {
  readonly player: Player;
  readonly hooks: BridgeHooks;
  readonly limits: BridgeLimits;
  readonly gone: AbortController;
  /** Lines for the next world, as packets. */
  readonly kept: Buffer[];
  readonly cookies: Map<string, (value: Buffer | undefined) => void>;
  link?: Link | undefined;
  server?: string | undefined;
  busy: boolean;
  /** Keeps the player alive while no server does. */
  waiting?: Disposable | undefined;
  /** Rejects the `connect` in progress when the player leaves. */
  onGone?: () => void;
};

/** Takes over a player in the configuration phase. They are kept alive until the first `connect`. */
export function createBridge(player: Player, hooks: BridgeHooks, limits: BridgeLimits = {}): Bridge {
  const { connection: client, version } = player;
  const state: State = {
    player,
    hooks,
    limits,
    gone: new AbortController(),
    kept: [],
    cookies: new Map(),
    busy: false,
  };
  wait(state);
  void client.closed.then(() => {
    state.gone.abort();
    state.link?.detach();
    state.onGone?.();
  });
  const isInWorld = () => player.inWorld && !client.isClosed;
  const show = (bodies: readonly Buffer[]) => {
    if (!isInWorld()) return false;
    for (const body of bodies) client.sendBody(body);
    return true;
  };
  return {
    player,
    get server() {
      return state.server;
    },
    get isInWorld() {
      return isInWorld();
    },
    connect: (backend) => connectOnce(state, backend),
    message: (text, overlay = false) => {
      const line = packets.message(version, text, overlay);
      if (show([line])) return true;
      if (client.isClosed || state.kept.length >= maxKeptLines) return false;
      state.kept.push(line);
      return true;
    },
    title: (title) => show(packets.title(version, title)),
    sendToServer: (message) => {
      state.link?.sendToServer(message);
      return state.link !== undefined;
    },
    transfer: (target) => void client.sendBody(packets.transfer(version, player.phase, target)),
    storeCookie: (key, value) =>
      void client.sendBody(packets.storeCookie(version, player.phase, { key, value })),
    askCookie: (key, timeoutMs) => askCookie(state, key, timeoutMs),
    kick: (reason) => {
      state.link?.detach();
      kick(player, reason);
    },
  };
}

function wait(state: State): void {
  state.waiting = keepAlive(state.player, { onCookie: (key, value) => state.cookies.get(key)?.(value) });
}

async function askCookie(
  { player, cookies, waiting }: State,
  key: string,
  timeoutMs: number,
): Promise<Buffer | undefined> {
  const { connection, version, phase } = player;
  if (!waiting || connection.isClosed) return undefined;
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const timer = setTimeout(resolve, timeoutMs, undefined);
  void connection.closed.then(() => resolve(undefined));
  cookies.set(key, resolve);
  connection.sendBody(packets.requestCookie(version, phase, key));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    cookies.delete(key);
  }
}

async function connectOnce(state: State, backend: Backend): Promise<void> {
  if (state.busy) throw new MinecraftFault("busy", "the player is already being connected to a server");
  state.busy = true;
  try {
    const { version, profile, address } = state.player;
    const connection = await dial(backend, { version, profile, address, signal: state.gone.signal });
    try {
      await leaveServer(state);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    await wire(state, backend, connection);
  } finally {
    state.busy = false;
  }
}

async function leaveServer(state: State): Promise<void> {
  const { player, limits } = state;
  if (player.connection.isClosed) throw new MinecraftFault("closed", "the player left");
  const inBundle = state.link?.inBundle() ?? false;
  state.link?.detach();
  state.link = undefined;
  release(state);
  await leaveWorld(player, inBundle, limits.acknowledgeTimeoutMs ?? 10_000);
}

function release(state: State): void {
  state.waiting?.[Symbol.dispose]();
  state.waiting = undefined;
}

/** Wires the two and resolves when the client is in the server's world. */
function wire(state: State, backend: Backend, connection: Connection): Promise<void> {
  const { player, hooks, limits } = state;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = () => connection.destroy(new MinecraftFault("timeout", "the configuration took too long"));
  const timer = setTimeout(late, limits.configurationTimeoutMs ?? 60_000);
  let [joined, lost] = [false, false];
  state.onGone = () => {
    clearTimeout(timer);
    reject(new MinecraftFault("closed", "the player left"));
  };
  state.server = backend.name;
  const events: LinkEvents = {
    onJoined: () => {
      clearTimeout(timer);
      const first = !joined;
      joined = true;
      if (first) hooks.onJoined?.(backend.name);
      resolve();
    },
    onCommand: (command) => hooks.onCommand?.(command) ?? false,
    onComplete: (line) => hooks.onComplete?.(line),
    onWorld: () => {
      if (!player.inWorld) return;
      for (const line of state.kept.splice(0)) player.connection.sendBody(line);
    },
    onReaching: (packet, key) => hooks.onReaching?.(packet, backend.name, key) ?? false,
    onServerMessage: (message) => hooks.onServerMessage?.(message, backend.name) ?? false,
    onClientMessage: (message) => hooks.onClientMessage?.(message) ?? false,
    onLost: (reason) => {
      clearTimeout(timer);
      lost = true;
      state.link = undefined;
      state.server = undefined;
      if (player.connection.isClosed) return reject(new MinecraftFault("closed", "the player left"));
      wait(state);
      if (joined) hooks.onLost?.(backend.name, reason);
      else reject(lossBeforeJoin(backend.name, reason));
    },
  };
  const commands = hooks.commandsOn?.(backend.name) ?? [];
  const attached = attach(player, connection, { events, commands });
  // A kick that was waiting in the socket arrives while the two are being wired.
  if (!lost) state.link = attached;
  return promise;
}

function lossBeforeJoin(name: string, reason: Text | undefined): MinecraftFault {
  if (reason === undefined)
    return new MinecraftFault("unavailable", `${name} closed the connection while it configured the player`);
  return new MinecraftFault(
    "refused",
    `${name} refused the player`,
    typeof reason === "string" ? reason : plain(reason),
  );
}

/**
 * Asks the client out of its world and waits until it has answered every change of the phase, the old server's own too:
 * what it said before is of the old world and must not reach the next server. A client that never answers is closed.
 */
async function leaveWorld(player: Player, inBundle: boolean, timeoutMs: number): Promise<void> {
  const { connection: client, version } = player;
  const wasInWorld = player.phase === "play";
  if (wasInWorld) {
    if (inBundle) client.send(version.play.toClient.id("bundle_delimiter"));
    client.send(version.play.toClient.id("start_configuration"));
    player.phase = "configuration";
    player.inWorld = false;
    player.unanswered += 1;
  }
  if (player.unanswered === 0) return;
  const timer = setTimeout(
    () => client.destroy(new MinecraftFault("timeout", "the client did not leave its world")),
    timeoutMs,
  );
  try {
    while (player.unanswered > 0) remember(player, await client.next());
  } catch (error) {
    client.destroy(error instanceof MinecraftFault ? error : new MinecraftFault("frame", String(error)));
    throw error;
  } finally {
    clearTimeout(timer);
  }
  if (wasInWorld) for (const body of packets.leftBehind(version)) client.sendBody(body);
}
