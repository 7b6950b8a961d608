import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { MinecraftFault } from "../fault.ts";
import { plainAddress, readProxyHeader } from "../proxy-protocol.ts";
import { Connection } from "../wire/connection.ts";
import { type AcceptOptions, accept, turnAway } from "./accept.ts";
import { createAdmission, type Place } from "./admission.ts";
import { encodeLegacyAnswer, type LegacyPing, readLegacyPing } from "./legacy-ping.ts";
import type { Player } from "./player.ts";

/** A port for players. */
type ListenOptions = AcceptOptions & {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string;
  /** Gets each player in the configuration phase. What it throws closes that player's connection. */
  readonly onPlayer: (player: Player) => void | Promise<void>;
  /** Gets what `onPlayer` threw that is not a `MinecraftFault`, a mistake of ours; without it that ends the process. */
  readonly onBroken?: (error: unknown) => void;
  /** Learns why a connection did not become a player. `status` questions are not told. */
  readonly onRefused?: (fault: MinecraftFault, address: string) => void;
  /**
   * Every connection starts with a PROXY header (v1 or v2), or is closed. Whoever sends one chooses the address they are seen
   * at: as a function it says which peers may, and the others are closed.
   */
  readonly proxyProtocol?: boolean | ((peer: string) => boolean);
  /** From the first byte to a logged-in player (30 000). */
  readonly loginTimeoutMs?: number;
  /**
   * Connections together (4096), and from one IPv4 address or IPv6 /64 (64). As many again of that address read why when
   * they log in; more are closed at once.
   */
  readonly maxConnections?: number;
  readonly maxPerAddress?: number;
};

/** A listening port. Closing it also closes every connection that came through it. */
export type Listener = AsyncDisposable & {
  readonly port: number;
  readonly connections: number;
  /** Takes no new connections; those that are there stay. */
  readonly stopAccepting: () => void;
  readonly close: () => Promise<void>;
};

/** Listens for players. Resolves when the port is open. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const admit = createAdmission(options.maxPerAddress ?? defaultPerAddress);
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
    // Until a Connection takes over, a reset must not bring the process down.
    socket.on("error", () => undefined);
    if (sockets.size >= (options.maxConnections ?? 4_096)) return void socket.destroy();
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    void welcome(socket, options, admit);
  });
  server.listen(options.port, options.host ?? "0.0.0.0");
  await once(server, "listening");
  const bound = server.address();
  const close = async () => {
    const closed = server.listening ? once(server, "close") : undefined;
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : options.port,
    get connections() {
      return sockets.size;
    },
    stopAccepting: () => void server.close(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const defaultPerAddress = 64;
/** Whoever is only to read why is not waited for like a player. */
const turnAwayMs = 3_000;

async function welcome(
  socket: Socket,
  options: ListenOptions,
  admit: (socket: Socket, address: string) => Place,
): Promise<void> {
  let address = plainAddress(socket.remoteAddress ?? "");
  const timeoutMs = options.loginTimeoutMs ?? 30_000;
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  let late = true;
  try {
    if (options.proxyProtocol) {
      checkPeer(address, options.proxyProtocol);
      address = plainAddress((await readProxyHeader(socket, timeoutMs))?.address ?? address);
    }
    const place = admit(socket, address);
    const max = options.maxPerAddress ?? defaultPerAddress;
    if (place === "over") throw new MinecraftFault("busy", `${address} has ${max} connections already`);
    if (place === "full") {
      const soon = setTimeout(() => socket.destroy(), turnAwayMs);
      socket.once("close", () => clearTimeout(soon));
      await turnAway(new Connection(socket), { address, max });
    }
    const ping = await readLegacyPing(socket, timeoutMs);
    if (ping) return await answerLegacyPing(socket, ping, { address, options });
    const player = await accept(new Connection(socket), address, options);
    late = false;
    clearTimeout(timer);
    if (player) await options.onPlayer(player);
  } catch (error) {
    const fault = error instanceof MinecraftFault ? error : new MinecraftFault("frame", String(error));
    // `refuse` ended it gracefully: the text must still arrive.
    if (!socket.writableEnded) socket.destroy();
    if (late) options.onRefused?.(fault, address);
    else if (!(error instanceof MinecraftFault)) {
      if (!options.onBroken) throw error;
      options.onBroken(error);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function answerLegacyPing(
  socket: Socket,
  ping: LegacyPing,
  { address, options }: { address: string; options: ListenOptions },
): Promise<void> {
  const { host, protocol } = ping;
  const status = await options.status({ host, protocol, address });
  socket.end(encodeLegacyAnswer(ping, status));
  // What the client still sends must be read, or its end is never seen.
  socket.resume();
  setTimeout(() => socket.destroy(), 500).unref();
}

function checkPeer(peer: string, isTrusted: true | ((peer: string) => boolean)): void {
  if (isTrusted === true || isTrusted(peer)) return;
  throw new MinecraftFault("unauthenticated", `${peer} may not say where its players come from`);
}
