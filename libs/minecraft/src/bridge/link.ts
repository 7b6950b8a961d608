import { controlChannel } from "@svc/proto/control";
import { fullBucket, takeTokens } from "@svc/service/token-bucket";
import { notePhaseAnswered, type Player, rememberBrand, rememberSettings } from "../login/player.ts";
import {
  addCommands,
  type CommandWord,
  encodeCompletions,
  readCompletionRequest,
} from "../packet/commands.ts";
import { type PluginMessage, packets, readPluginMessage } from "../packet/play.ts";
import { readTextNbt, type Text } from "../packet/text.ts";
import { Reader } from "../wire/bytes.ts";
import type { Connection } from "../wire/connection.ts";
import type { Relay } from "../wire/relay.ts";
import { startRelay } from "../wire/relay-frames.ts";
import { packetFiltersOf, type ReachingPacket } from "./packet-filter.ts";

/** What one connection between a player and a backend tells the bridge. */
export type LinkEvents = {
  readonly onJoined: () => void;
  /** The client has been told of the server's world. */
  readonly onWorld: () => void;
  readonly onCommand: (command: string) => boolean;
  /** The last words of a line that is being typed; undefined leaves the question to the server. */
  readonly onComplete: (line: string) => readonly string[] | undefined;
  readonly onServerMessage: (message: PluginMessage) => boolean;
  readonly onClientMessage: (message: PluginMessage) => boolean;
  /** True keeps the packet from the client; `key` is the cookie's. */
  readonly onReaching: (packet: ReachingPacket, key: string | undefined) => boolean;
  /** Once: the backend is gone, with its words when it sent some. The link is detached by then. */
  readonly onLost: (reason: Text | undefined) => void;
};

/** A player wired to one backend. */
export type Link = {
  readonly server: Connection;
  /** The client is inside a bundle: it must be closed before anything else is sent. */
  readonly inBundle: () => boolean;
  readonly sendToServer: (message: PluginMessage) => void;
  readonly detach: () => void;
};

/** Compressed server packets up to this size are peeked into: kicks, cookies and plugin messages, but not chunks. */
const peekServerBytes = 6_144;
/** Larger trees of commands are left as they are. Those of servers with many plugins have some 100 KiB. */
const maxTreeBytes = 262_144;
/**
 * So many packets above `peekServerBytes` are peeked into for a tree: the chunks around somebody who joins, and of
 * somebody who walks. A tree among chunks that come faster may be missed.
 */
const largePeeks = { burst: 512, perSecond: 32 };
/** No packet of a client that is inspected has a right to be larger; inflating one costs a thousand times its sending. */
const inspectClientBytes = 131_072;

type LinkOptions = {
  readonly events: LinkEvents;
  /** Completed by Tab beside the server's own. */
  readonly commands: readonly CommandWord[];
};

type State = LinkOptions & {
  readonly player: Player;
  readonly server: Connection;
  inBundle: boolean;
  detached: boolean;
};

/** Wires both directions. Frames go through as they are; only the packets in `packet-filter.ts` are inspected. */
export function attach(player: Player, server: Connection, options: LinkOptions): Link {
  const state: State = { player, server, ...options, inBundle: false, detached: false };
  void server.closed.then(() => lose(state, undefined));
  greetServer(player, server);
  startRelay(server, serverRelay(state));
  if (!state.detached) startRelay(player.connection, clientRelay(state));
  return {
    server,
    inBundle: () => state.inBundle,
    sendToServer: (message) =>
      void server.sendBody(packets.pluginMessageToServer(player.version, player.clientPhase, message)),
    detach: () => detach(state),
  };
}

function serverRelay(state: State): Relay {
  const { player, events, commands } = state;
  const peeks = fullBucket(largePeeks, performance.now());
  const { version, connection: client } = player;
  const filters = packetFiltersOf(version);
  const relay: Relay = {
    to: client,
    filter: filters[player.phase].fromServer,
    peekBytes: peekServerBytes,
    peeksLarger: (bytes) =>
      commands.length > 0 &&
      bytes <= maxTreeBytes &&
      player.phase === "play" &&
      takeTokens(peeks, largePeeks, performance.now()) === 0,
    rewrite: {
      maxBytes: commands.length > 0 ? maxTreeBytes : 0,
      body: (body) => addCommands(body, commands) ?? body,
    },
    onPassed: (id) => {
      const name = version[player.phase].toClient.name(id);
      if (name === "bundle_delimiter") {
        state.inBundle = !state.inBundle;
        return;
      }
      if (name === "login") {
        player.inWorld = true;
        // The frame itself is still to be passed.
        queueMicrotask(events.onWorld);
        return;
      }
      player.inWorld = false;
      player.phase = name === "start_configuration" ? "configuration" : "play";
      player.unanswered += 1;
      state.inBundle = false;
      relay.filter = filters[player.phase].fromServer;
    },
    onPacket: (id, body) => {
      const fields = fieldsOf(body);
      const name = version[player.phase].toClient.name(id);
      if (name === "custom_payload") return seenFromServer(fields, events);
      if (name === "transfer") return events.onReaching(name, undefined);
      if (name === "store_cookie" || name === "cookie_request")
        return events.onReaching(name, fields.string(32_767));
      lose(state, kickReason(fields.rest()));
      return true;
    },
  };
  return relay;
}

function clientRelay(state: State): Relay {
  const { player, server, events } = state;
  const { version } = player;
  const filters = packetFiltersOf(version);
  const relay: Relay = {
    to: server,
    filter: filters[player.clientPhase].fromClient,
    // A client may pad what it forges until it is compressed, so every packet of a client is peeked into.
    peekBytes: Number.MAX_SAFE_INTEGER,
    inspectBytes: inspectClientBytes,
    onPassed: () => {
      notePhaseAnswered(player);
      relay.filter = filters[player.clientPhase].fromClient;
      if (player.clientPhase === "play") events.onJoined();
    },
    onPacket: (id, body) => {
      const fields = fieldsOf(body);
      const name = version[player.clientPhase].toServer.name(id);
      if (name === "custom_payload") return seenFromClient(player, fields.rest(), events);
      if (name === "tab_complete") return complete(state, fields);
      if (name !== "settings") return events.onCommand(fields.string(32_767));
      rememberSettings(player, fields.rest());
      return false;
    },
  };
  return relay;
}

function detach(state: State): void {
  if (state.detached) return;
  state.detached = true;
  state.player.connection.stop();
  state.server.destroy();
}

function lose(state: State, reason: Text | undefined): void {
  if (state.detached) return;
  detach(state);
  state.events.onLost(reason);
}

/** The client says these once; a backend it is switched to has to hear them from us. */
function greetServer({ client, version }: Player, server: Connection): void {
  const ids = version.configuration.toServer;
  if (client.brand) server.send(ids.id("custom_payload"), client.brand);
  if (client.settings) server.send(ids.id("settings"), client.settings);
}

function complete({ player, events }: State, fields: Reader): boolean {
  const { transactionId, line } = readCompletionRequest(fields);
  const words = events.onComplete(line);
  if (!words) return false;
  const start = line.lastIndexOf(" ") + 1;
  const answer = { transactionId, start, length: line.length - start, words };
  player.connection.sendBody(encodeCompletions(player.version, answer));
  return true;
}

function seenFromServer(fields: Reader, events: LinkEvents): boolean {
  const message = readPluginMessage(fields);
  return events.onServerMessage(message) || message.channel === controlChannel;
}

function seenFromClient(player: Player, fields: Buffer, events: LinkEvents): boolean {
  rememberBrand(player, fields);
  const message = readPluginMessage(new Reader(fields));
  return message.channel === controlChannel || events.onClientMessage(message);
}

function fieldsOf(body: Buffer): Reader {
  const reader = new Reader(body);
  reader.varint();
  return reader;
}

function kickReason(nbt: Buffer): Text {
  try {
    return readTextNbt(nbt);
  } catch {
    return "";
  }
}
