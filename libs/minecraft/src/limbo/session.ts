import { fullBucket, type TokenBucket, takeTokens } from "@svc/service/token-bucket";
import { MinecraftFault } from "../fault.ts";
import { kick, type Player, rememberBrand, rememberSettings } from "../login/player.ts";
import { encodeCommands } from "../packet/commands.ts";
import { packets, readPluginMessage } from "../packet/play.ts";
import type { Version } from "../version/catalog.ts";
import type { Reader } from "../wire/bytes.ts";
import type { Packet } from "../wire/connection.ts";
import { encodeFrame } from "../wire/frame.ts";
import { bookPackets, chestPackets } from "./items.ts";
import type { Limbo, LimboEvents, LimboOptions, LimboSession } from "./limbo.ts";
import { sceneryOf } from "./world.ts";

const keepAliveMs = 10_000;

/** The longest packet that a limbo has a use for is a plugin message of 32 KiB. */
const frameBytes = 65_536;

/** A client that reads slower than its doings are answered is closed once so much waits for it. */
const backlogBytes = 1_048_576;

/** What a client may make us answer; a person is slower. */
const actionRate = { burst: 60, perSecond: 20 };

type Member = {
  readonly player: Player;
  readonly events: LimboEvents;
  heardAt: number;
  windowId: number;
  actions: TokenBucket;
};
type Framed = { readonly configuration: Buffer; readonly join: Buffer };

/** Makes the worlds; a version's is read with its first player, which takes some milliseconds. */
export function createLimbo(options: LimboOptions = {}): Limbo {
  const members = new Set<Member>();
  const framed = new Map<string, Framed>();
  const timer = setInterval(() => beat(members, options.idleTimeoutMs ?? 30_000), keepAliveMs).unref();
  const place = (options.platform ?? true) ? "platform" : "void";
  const { commands = [] } = options;
  const declared = (version: Version) => (commands.length > 0 ? [encodeCommands(version, commands)] : []);
  const framesOf = ({ version, connection }: Player): Framed => {
    const key = `${version.protocol}/${connection.threshold}`;
    const known = framed.get(key);
    if (known) return known;
    const world = sceneryOf(version).world[place];
    const frames = (bodies: readonly Buffer[]) =>
      Buffer.concat(bodies.map((body) => encodeFrame(body, connection.threshold)));
    const made = {
      configuration: frames(world.configuration),
      join: frames([...world.join, ...declared(version)]),
    };
    framed.set(key, made);
    return made;
  };
  return {
    get players() {
      return members.size;
    },
    enter: async (player, events = {}) => {
      player.connection.frameLimit = frameBytes;
      player.connection.inflatedLimit = frameBytes;
      await configure(player, framesOf(player));
      const now = performance.now();
      const member: Member = {
        player,
        events,
        heardAt: now,
        windowId: 0,
        actions: fullBucket(actionRate, now),
      };
      members.add(member);
      void player.connection.closed.then(() => {
        members.delete(member);
        events.onLeave?.();
      });
      // The caller gets the session before the first event of it.
      queueMicrotask(() => player.connection.listen((packet) => hear(member, packet)));
      return sessionOf(member);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      const closed = [...members].map(({ player }) => player.connection.closed);
      for (const { player } of members) player.connection.destroy();
      await Promise.all(closed);
    },
  };
}

async function configure(player: Player, frames: Framed): Promise<void> {
  const { connection, version } = player;
  connection.write(frames.configuration);
  for (;;) {
    const { id, reader } = await connection.next();
    const name = version.configuration.toServer.name(id);
    if (name === "settings") rememberSettings(player, reader.rest());
    else if (name === "custom_payload") rememberBrand(player, reader.rest());
    else if (name === "finish_configuration") break;
    else if (name === undefined)
      throw new MinecraftFault("state", `packet ${id} came in the configuration phase`);
  }
  player.phase = "play";
  player.clientPhase = "play";
  player.inWorld = true;
  connection.write(frames.join);
}

/** One clock for everybody: a thousand players are one timer and one pass. */
function beat(members: ReadonlySet<Member>, idleTimeoutMs: number): void {
  const now = performance.now();
  const id = Buffer.alloc(8);
  id.writeBigInt64BE(BigInt(Math.trunc(now)));
  for (const { player, heardAt } of members) {
    if (now - heardAt > idleTimeoutMs)
      player.connection.destroy(new MinecraftFault("timeout", "the client is silent"));
    else player.connection.sendBody(packets.keepAlive(player.version, "play", id));
  }
}

function hear(member: Member, { id, reader }: Packet): void {
  member.heardAt = performance.now();
  const { player, events } = member;
  const name = player.version.play.toServer.name(id);
  if (name === undefined) throw new MinecraftFault("state", `packet ${id} is unknown in play`);
  if (name === "custom_payload") events.onPluginMessage?.(readPluginMessage(reader));
  else if (name === "settings") rememberSettings(player, reader.rest());
  else if (name === "cookie_response") {
    const key = reader.string(256);
    events.onCookie?.(key, reader.bool() ? Buffer.from(reader.byteArray(5_120)) : undefined);
  } else if (name in doings && takeTokens(member.actions, actionRate, member.heardAt) === 0)
    doings[name]?.(member, reader);
}

/** What costs us an answer; a client that does it faster than a person could is not heard for that long. */
const doings: Readonly<Record<string, (member: Member, reader: Reader) => void>> = {
  chat_command: ({ events }, reader) => events.onCommand?.(reader.string(32_767)),
  chat_command_signed: ({ events }, reader) => events.onCommand?.(reader.string(32_767)),
  chat_message: ({ events }, reader) => events.onChat?.(reader.string(256)),
  window_click: click,
  close_window: ({ events }, reader) => events.onCloseWindow?.(reader.varint()),
  custom_click_action: ({ events }, reader) => events.onDialogClick?.(reader.string(256)),
};

/** The head of a click is the same in every version: window, state, slot, button. The rest is the client's belief. */
function click({ events }: Member, reader: Reader): void {
  const windowId = reader.varint();
  reader.varint();
  events.onClick?.({ windowId, slot: reader.short(), button: reader.ubyte() });
}

function sessionOf(member: Member): LimboSession {
  const { player } = member;
  const { connection, version } = player;
  const send = (bodies: readonly Buffer[]) => {
    for (const body of bodies) connection.sendBody(body);
    if (connection.backlogBytes > backlogBytes)
      connection.destroy(new MinecraftFault("timeout", "the client does not read what it asked for"));
  };
  return {
    player,
    message: (text, overlay = false) => send([packets.message(version, text, overlay)]),
    title: (title) => send(packets.title(version, title)),
    pluginMessage: (message) => send([packets.pluginMessage(version, "play", message)]),
    openChest: (chest) => {
      member.windowId = (member.windowId % 100) + 1;
      send(chestPackets(version, { ...chest, windowId: member.windowId }));
      return member.windowId;
    },
    closeWindow: () => send([packets.closeWindow(version, member.windowId)]),
    openBook: (pages) => send(bookPackets(version, pages)),
    showDialog: (dialog) => {
      if (version.hasDialogs) send([packets.dialog(version, "play", dialog)]);
      return version.hasDialogs;
    },
    clearDialog: () => send(version.hasDialogs ? [packets.clearDialog(version, "play")] : []),
    storeCookie: (key, value) => send([packets.storeCookie(version, "play", { key, value })]),
    requestCookie: (key) => send([packets.requestCookie(version, "play", key)]),
    transfer: (target) => send([packets.transfer(version, "play", target)]),
    kick: (reason) => kick(player, reason),
  };
}
