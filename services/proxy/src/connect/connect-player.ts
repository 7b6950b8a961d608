// Moves a player from one server to another; the only place that connects.

import { type Backend, MinecraftFault, plainText, type Text } from "@svc/minecraft";
import type { ServerInfo } from "@svc/proto";
import { findMismatch, type VersionDeps } from "../backend/version.ts";
import { type ProxyConfig, parseAddress } from "../config.ts";
import type { Forwarding } from "../forwarding/secrets.ts";
import { joinAddress } from "../registry/join-address.ts";
import type { Registry } from "../registry/registry.ts";
import { type ReportDeps, reportSwitch } from "../report/player-events.ts";
import { type Destination, mayConnect } from "../session/place.ts";
import { disconnect, isCurrent, type Session, type Sessions, sentence, tell } from "../session/session.ts";

export type ConnectDeps = ReportDeps &
  VersionDeps & {
    readonly config: Pick<
      ProxyConfig,
      "loginAddress" | "lobbyAddress" | "sendProxyProtocol" | "connectTimeoutMs"
    >;
    readonly sessions: Sessions;
    readonly registry: Pick<Registry, "find">;
    readonly forwarding: Pick<Forwarding, "ofServer" | "ofSystem">;
  };

type ConnectResult =
  | { ok: true }
  | { ok: false; why: "denied" | "busy" | "left" | "unreachable" | "refused" | "version"; reason: string };

/** `announce` is called once every check has passed, right before the connection is made. */
type ConnectTarget = Destination & { address?: string; announce?: (() => void) | undefined };

const failed = (why: Exclude<ConnectResult, { ok: true }>["why"], reason = ""): ConnectResult => ({
  ok: false,
  why,
  reason,
});

export async function connectPlayer(
  context: ConnectDeps,
  session: Session,
  { announce, ...to }: ConnectTarget,
): Promise<ConnectResult> {
  const obstacle = () => {
    if (!isCurrent(context, session)) return failed("left");
    return mayConnect(session.place, to, session.isReleased) ? undefined : failed("denied");
  };
  const before = obstacle();
  if (before) return before;
  const backend = backendOf(context, to);
  if (!backend) return failed("unreachable");
  const mismatch = to.kind === "server" ? await findMismatch(context, session, backend) : undefined;
  // They may have gone elsewhere while the server was asked.
  const since = obstacle();
  if (since) return since;
  if (mismatch) {
    context.log.info({ player: session.name, ...mismatch }, "player's version differs from the server's");
    return failed("version", sentence(session, "otherVersion", mismatch));
  }
  announce?.();
  try {
    await session.bridge.connect(backend);
    if (session.bridge.player.connection.isClosed) return failed("left");
    const from = session.place;
    session.place = to;
    reportSwitch(context, session, from);
    return { ok: true };
  } catch (error) {
    return resultOf(context, error, backend.name);
  }
}

function resultOf({ log }: ConnectDeps, error: unknown, server: string): ConnectResult {
  if (!(error instanceof MinecraftFault)) throw error;
  if (error.code === "busy") return failed("busy");
  if (error.code === "closed") return failed("left");
  if (error.code === "refused") return failed("refused", error.reason ?? "");
  log.warn({ server, reason: error.message }, "connecting a player to a server failed");
  return failed("unreachable");
}

function backendOf(context: ConnectDeps, to: Destination & { address?: string }): Backend | undefined {
  const { config, registry } = context;
  const name = to.kind === "server" ? to.name : to.kind === "gate" ? config.loginServer : config.lobbyServer;
  const fixed =
    to.kind === "gate" ? config.loginAddress : to.kind === "lobby" ? config.lobbyAddress : to.address;
  const server = registry.find(name);
  const place = parseAddress(fixed ?? (server && joinAddress(server)) ?? "");
  if (!place) return undefined;
  const secret = secretOf(context, to, server);
  return {
    name,
    ...place,
    ...(secret !== undefined && { secret }),
    proxyProtocol: config.sendProxyProtocol,
    timeoutMs: config.connectTimeoutMs,
  };
}

/** Without one the server refuses the player, if it asks for one. */
function secretOf(
  { forwarding, log }: ConnectDeps,
  to: Destination,
  server: ServerInfo | undefined,
): string | undefined {
  if (to.kind === "gate") return forwarding.ofSystem("login");
  if (to.kind === "lobby") return forwarding.ofSystem("lobby");
  const { name, forwardingKey: key } = server ?? {};
  if (name === undefined || key === undefined) return undefined;
  const secret = forwarding.ofServer({ name, key });
  if (secret === undefined)
    log.warn(
      { server: name, key },
      "the server was started with a forwarding master that this proxy does not have; restart the server",
    );
  return secret;
}

/** To a user server. One that refuses or is gone is forgotten as the target, and the player goes to the lobby. */
export async function enterServer(
  context: ConnectDeps,
  session: Session,
  to: { name: string; address: string; announce?: () => void },
): Promise<ConnectResult> {
  const result = await connectPlayer(context, session, { kind: "server", ...to });
  const { name: server } = to;
  if (result.ok) {
    session.target = undefined;
    return result;
  }
  if (result.why === "left") return result;
  if (result.why === "busy") {
    tell(session, "onTheWay");
    return result;
  }
  session.target = undefined;
  context.activity.count("transfersFailed");
  await toLobby(context, session, failureLine(session, server, result));
  return result;
}

function failureLine(
  session: Session,
  server: string,
  { why, reason }: Extract<ConnectResult, { ok: false }>,
): string {
  if (why === "version") return reason;
  if (why === "refused") return sentence(session, "refusedByServer", { server, reason });
  return sentence(session, "cannotReach", { server });
}

/** To the lobby with a line of chat. Who has nowhere to stay reads the line while they are sent away. */
export async function toLobby(context: ConnectDeps, session: Session, line: Text | undefined): Promise<void> {
  const isThere = session.place.kind === "lobby" && session.bridge.server !== undefined;
  const result: ConnectResult = isThere
    ? { ok: true }
    : await connectPlayer(context, session, { kind: "lobby" });
  if (result.ok) {
    if (line !== undefined) session.bridge.message(line);
    return;
  }
  if (result.why === "left" || result.why === "busy") return;
  if (session.bridge.server === undefined) {
    const words = line ?? sentence(session, "cannotReach", { server: context.config.lobbyServer });
    disconnect(session, words, "no_lobby");
    return;
  }
  if (line !== undefined) session.bridge.message(line);
  else tell(session, "cannotReach", { server: context.config.lobbyServer });
}

/** The server a player was on kicked them or is gone. */
export async function onLost(
  context: ConnectDeps,
  session: Session,
  lost: { server: string; reason: Text | undefined },
): Promise<void> {
  const { server } = lost;
  const words = lost.reason === undefined || plainText(lost.reason) === "" ? undefined : lost.reason;
  session.lost = words === undefined ? "the connection was lost" : plainText(words).slice(0, 256);
  if (session.place.kind !== "server") {
    const own = session.place.kind === "lobby" ? "lostLobby" : "gateUnavailable";
    disconnect(session, words ?? sentence(session, own), "lost");
    return;
  }
  session.target = undefined;
  await toLobby(context, session, lineOf(session, server, words));
}

/** A server's words may be a text of the client's own language, so they stay a text; of their style nothing stays. */
function lineOf(session: Session, server: string, words: Text | undefined): Text {
  if (words === undefined) return sentence(session, "lostServer", { server });
  const [before = "", after = ""] = sentence(session, "sentAway", { server, reason: placeholder }).split(
    placeholder,
  );
  return { text: before, extra: [withoutStyle(words), after] };
}

// A character that nobody writes.
const placeholder = "\ue000";

function withoutStyle(words: Text): Text {
  if (typeof words === "string") return words;
  const { text, translate, with: values, extra } = words;
  return {
    ...(text !== undefined && { text: text.replaceAll(/§./gu, "") }),
    ...(translate !== undefined && { translate }),
    ...(values && { with: values.map(withoutStyle) }),
    ...(extra && { extra: extra.map(withoutStyle) }),
  };
}
