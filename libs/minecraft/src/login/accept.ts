import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Sentence, sayInAll, type ValuesOf } from "@svc/proto/language";
import { MinecraftFault } from "../fault.ts";
import { type Text, textJson } from "../packet/text.ts";
import { findVersion, supportedRange, type Version } from "../version/catalog.ts";
import { bool, byteArray, Reader, string, varint } from "../wire/bytes.ts";
import type { Connection, Packet } from "../wire/connection.ts";
import { maxFrameBytes } from "../wire/frame.ts";
import { decodeForwarding, type Forwarded, forwardingChannel } from "./forwarding.ts";
import type { Player } from "./player.ts";
import {
  encodeProperties,
  isPlayerName,
  offlineUuid,
  type Profile,
  shortestName,
  uuidBytes,
} from "./profile.ts";
import type { ForwardingSecrets } from "./secrets.ts";
import { decryptWith, hasJoined, type LoginKeys, type SessionServer, serverHash } from "./session-server.ts";
import { type ServerStatus, statusJson } from "./status.ts";

/**
 * Who vouches for a player: the session server (`online`), a proxy that signs with our secret (`forwarded`), or nobody:
 * `offline` gives any name the UUID of offline mode (for tests and for servers that no player can reach), `named` asks
 * the session server who has that name on a machine that only its own person reaches.
 */
export type Trust =
  | {
      readonly kind: "online";
      readonly keys: LoginKeys;
      readonly sessionServer: SessionServer;
      readonly checkAddress?: boolean;
    }
  | { readonly kind: "forwarded"; readonly secret: ForwardingSecrets }
  | { readonly kind: "named"; readonly sessionServer: SessionServer }
  | { readonly kind: "offline" };

/** What a player who can't log in reads: in all languages, as a client names its own only after the login. */
const loginTexts = {
  unsupported: {
    en: "This network speaks Minecraft {range}. Please start one of these versions.",
    zh: "本网络支持 Minecraft {range}，请使用其中的版本。",
  },
  badName: {
    en: "Your player name is not valid. Use {shortest} to 16 letters (a to z), digits or underscores.",
    zh: "玩家名无效，请使用 {shortest} 到 16 个字母（a 到 z）、数字或下划线。",
  },
  unauthenticated: {
    en: "Your login could not be verified. Restart your game and join through the right address.",
    zh: "无法验证你的登录。请重启游戏，并通过正确的地址加入。",
  },
  notForwarded: { en: "Join through the network's own address.", zh: "请通过网络地址加入。" },
  barred: {
    en: "You are barred from this network. If you think this is a mistake, contact the staff.",
    zh: "此玩家已被禁止进入本网络。如有疑问，请联系管理员。",
  },
  unavailable: {
    en: "The login service does not answer at the moment. Please try again in a minute.",
    zh: "登录服务暂时没有响应，请一分钟后再试。",
  },
  tooManyLogins: {
    en: "Too many logins from your address. Please try again in {seconds} seconds.",
    zh: "来自你的网络地址的登录过于频繁，请在 {seconds} 秒后重试。",
  },
  tooManyConnections: {
    en: "Your address already has {max} connections here, which is the most. Leave with another client first.",
    zh: "你的网络地址已有 {max} 个连接，已达上限。请先退出其他客户端。",
  },
} as const satisfies Record<string, Sentence>;

const inAll = <const S extends Sentence>(sentence: S, ...values: ValuesOf<S>) =>
  sayInAll(sentence, "\n", ...values);

/** A question from a server list. */
export type Ping = { readonly host: string; readonly protocol: number; readonly address: string };

/** How connections are answered. */
export type AcceptOptions = {
  readonly trust: Trust;
  readonly status: (ping: Ping) => ServerStatus | Promise<ServerStatus>;
  /** Compression threshold in bytes (256); below 0 none. */
  readonly threshold?: number;
  /**
   * Called with the client address of each login before it is authenticated: 0 admits it, otherwise the player is told to
   * retry in that many milliseconds.
   */
  readonly loginWaitMs?: (address: string) => number;
};

type Handshake = {
  protocol: number;
  host: string;
  intent: "status" | "login";
  transferred: boolean;
  address: string;
};

/** Limit of a frame before the login is through; a forwarded profile with its skin needs the larger one. */
const frameLimits = { online: 4_096, named: 4_096, offline: 4_096, forwarded: 65_536 } as const;

/** In place of the hash of a login: the player proved nothing. No login can bring it about, hashes are hex. */
const unprovenLogin = "local";

/** Takes a connection through handshake and login. Undefined: it only asked for the status, which it got. */
export async function accept(
  connection: Connection,
  address: string,
  options: AcceptOptions,
): Promise<Player | undefined> {
  connection.frameLimit = frameLimits[options.trust.kind];
  connection.inflatedLimit = connection.frameLimit;
  const handshake = readHandshake(await connection.next(), address);
  if (handshake.intent === "status") return answerStatus(connection, handshake, options);
  const version = findVersion(handshake.protocol);
  if (!version) {
    const text = inAll(loginTexts.unsupported, { range: supportedRange });
    return refuse(connection, text, new MinecraftFault("unsupported", `protocol ${handshake.protocol}`));
  }
  const waitMs = options.loginWaitMs?.(address) ?? 0;
  if (waitMs > 0) {
    const text = inAll(loginTexts.tooManyLogins, { seconds: Math.ceil(waitMs / 1_000) });
    return refuse(connection, text, new MinecraftFault("busy", `${address} logs in too often`));
  }
  try {
    return await login(connection, { ...handshake, version }, options);
  } catch (error) {
    const fault = error instanceof MinecraftFault ? error : new MinecraftFault("frame", String(error));
    const { kind } = options.trust;
    if (fault.code === "unauthenticated" && kind === "forwarded")
      return refuse(connection, inAll(loginTexts.notForwarded), fault);
    if (fault.code === "unauthenticated" || fault.code === "barred" || fault.code === "unavailable")
      return refuse(connection, inAll(loginTexts[fault.code]), fault);
    if (fault.code === "refused")
      return refuse(connection, inAll(loginTexts.badName, { shortest: shortestName[kind] }), fault);
    throw fault;
  }
}

type Crowd = { readonly address: string; readonly max: number };

/** Tells a client that logs in from a crowded address why it can't, and closes whoever asks for anything else. */
export async function turnAway(connection: Connection, { address, max }: Crowd): Promise<never> {
  const fault = new MinecraftFault("busy", `${address} has ${max} connections already`);
  connection.frameLimit = frameLimits.online;
  const { intent } = readHandshake(await connection.next(), address);
  if (intent === "status") throw fault;
  return refuse(connection, inAll(loginTexts.tooManyConnections, { max }), fault);
}

function refuse(connection: Connection, text: Text, fault: MinecraftFault): never {
  connection.send(0, string(textJson(text)));
  connection.end();
  throw fault;
}

function readHandshake({ id, reader }: Packet, address: string): Handshake {
  if (id !== 0) throw new MinecraftFault("state", `packet ${id} came before the handshake`);
  const protocol = reader.varint();
  const host = cleanHost(reader.string(255));
  reader.ushort();
  const intent = reader.varint();
  if (intent < 1 || intent > 3) throw new MinecraftFault("state", `the handshake asks for state ${intent}`);
  return { protocol, host, intent: intent === 1 ? "status" : "login", transferred: intent === 3, address };
}

/** Mod loaders hang their own data behind a NUL; resolvers leave the root's dot. */
function cleanHost(host: string): string {
  return (host.split("\0")[0] ?? "").replace(/\.$/, "").toLowerCase();
}

async function answerStatus(connection: Connection, ping: Ping, options: AcceptOptions): Promise<undefined> {
  await expect(connection, 0, "status request");
  const status = await options.status({ host: ping.host, protocol: ping.protocol, address: ping.address });
  connection.send(0, string(statusJson(status, ping.protocol)));
  // Many list sites leave without the ping.
  const echo = await connection.next().catch(() => undefined);
  if (echo?.id === 1) connection.send(1, echo.reader.take(8));
  connection.end();
  return undefined;
}

type Login = Handshake & { readonly version: Version };

async function login(connection: Connection, login: Login, options: AcceptOptions): Promise<Player> {
  const start = await expect(connection, 0, "login start");
  const name = start.reader.string(255);
  if (!isPlayerName(name) || name.length < shortestName[options.trust.kind])
    throw new MinecraftFault("refused", "the name is not a player name");
  const { profile, address } = await vouch(connection, { ...login, name }, options.trust);
  const threshold = options.threshold ?? 256;
  if (threshold >= 0) {
    connection.send(3, varint(threshold));
    connection.threshold = threshold;
  }
  const strict = login.version.hasStrictErrors ? bool(false) : Buffer.alloc(0);
  connection.send(
    2,
    uuidBytes(profile.uuid),
    string(profile.name),
    encodeProperties(profile.properties),
    strict,
  );
  await expect(connection, 3, "login acknowledged");
  connection.frameLimit = maxFrameBytes;
  connection.inflatedLimit = maxFrameBytes;
  const { version, host, transferred } = login;
  return {
    connection,
    version,
    profile,
    address,
    host,
    transferred,
    phase: "configuration",
    clientPhase: "configuration",
    unanswered: 0,
    inWorld: false,
    client: { locale: "en_us" },
  };
}

function vouch(
  connection: Connection,
  login: Login & { name: string },
  trust: Trust,
): Forwarded | Promise<Forwarded> {
  if (trust.kind === "online") return authenticate(connection, login, trust);
  if (trust.kind === "forwarded") return askProxy(connection, trust.secret);
  if (trust.kind === "named") return askName(connection, login, trust.sessionServer);
  return {
    profile: { uuid: offlineUuid(login.name), name: login.name, properties: [] },
    address: login.address,
  };
}

async function askName(
  connection: Connection,
  { name, address }: Login & { name: string },
  sessionServer: SessionServer,
): Promise<Forwarded> {
  return { profile: await ask(connection, sessionServer, { name, hash: unprovenLogin }), address };
}

/** Nothing is asked any more for a player who has left. */
async function ask(
  connection: Connection,
  sessionServer: SessionServer,
  { name, hash }: { name: string; hash: string },
): Promise<Profile> {
  const left = new AbortController();
  void connection.closed.then(() => left.abort());
  return hasJoined({ ...sessionServer, signal: left.signal }, name, hash).catch((error: unknown) => {
    throw connection.isClosed ? new MinecraftFault("closed", "the player left") : error;
  });
}

async function authenticate(
  connection: Connection,
  login: Login & { name: string },
  trust: Trust & { kind: "online" },
): Promise<Forwarded> {
  const token = randomBytes(4);
  connection.send(1, string(""), byteArray(trust.keys.publicDer), byteArray(token), bool(true));
  const { reader } = await expect(connection, 1, "encryption response");
  const [secret, echoed] = [reader.byteArray(256), reader.byteArray(256)].map((bytes) =>
    decryptWith(trust.keys, bytes),
  );
  if (secret?.length !== 16 || echoed?.length !== 4 || !timingSafeEqual(echoed, token)) {
    throw new MinecraftFault("frame", "the encryption answer does not hold our token");
  }
  connection.encrypt(secret);
  const hash = serverHash("", secret, trust.keys.publicDer);
  const server = trust.checkAddress
    ? { ...trust.sessionServer, address: login.address }
    : trust.sessionServer;
  return { profile: await ask(connection, server, { name: login.name, hash }), address: login.address };
}

async function askProxy(connection: Connection, secret: ForwardingSecrets): Promise<Forwarded> {
  connection.send(4, varint(1), string(forwardingChannel), Buffer.of(1));
  const { reader } = await expect(connection, 2, "login plugin response");
  const [messageId, understood] = [reader.varint(), reader.bool()];
  if (messageId !== 1 || !understood)
    throw new MinecraftFault("unauthenticated", "the player did not come through the proxy");
  return decodeForwarding(reader.rest(), secret);
}

async function expect(connection: Connection, id: number, what: string): Promise<Packet> {
  const packet = await connection.next();
  if (packet.id !== id) throw new MinecraftFault("state", `packet ${packet.id} came in place of ${what}`);
  return { ...packet, reader: new Reader(packet.body, packet.reader.offset) };
}
