// Requests of plugins on servers as they arrive (docs/reference/plugin-messages.md#rules). The player is always the one whose
// connection it is, whatever a message says.

import type { PluginMessage } from "@svc/minecraft";
import { BusyError } from "../api/pool.ts";
import type { Budget } from "../budget/budget.ts";
import type { ProxyConfig } from "../config.ts";
import { toLobby } from "../connect/connect-player.ts";
import type { ForeignFrameLog } from "../control/foreign-frames.ts";
import { type GoDeps, goOrWake } from "../control/frames.ts";
import type { Online } from "../player/presence.ts";
import type { Registry } from "../registry/registry.ts";
import { isSystem } from "../session/place.ts";
import { isCurrent, type Session } from "../session/session.ts";
import { bungeeChannel, type PluginRequest, readRequest, writeAnswer } from "./codec.ts";

type PluginDeps = GoDeps & {
  readonly config: Pick<ProxyConfig, "pluginMessages" | "loginServer" | "lobbyServer">;
  readonly registry: Pick<Registry, "all">;
  readonly online: Online;
  readonly isRouting: boolean;
  readonly actions: Budget;
  readonly frames: Budget;
  readonly foreignFrames: ForeignFrameLog;
};

/** Whether a client's own message is kept from servers: they would take it for an answer of the proxy. */
export function isForged({ config }: PluginDeps, { channel }: PluginMessage): boolean {
  return config.pluginMessages && channel === bungeeChannel;
}

/** Handles a plugin message of a server. True: it was a request and is not passed on, whatever its outcome. */
export function takeRequest(
  context: PluginDeps,
  session: Session,
  from: { message: PluginMessage; server: string },
): boolean {
  const { message, server } = from;
  if (!context.config.pluginMessages || message.channel !== bungeeChannel) return false;
  const request = readRequest(message.data);
  const isGate = server === context.config.loginServer;
  if (request.type === "refused" || isGate) {
    context.foreignFrames.warn(
      server,
      `plugin message ${request.type === "refused" ? request.what : request.type}`,
    );
    return true;
  }
  if (context.frames.spend(session.uuid) > 0) return true;
  // What arrives after the player moved on is void.
  if (!session.isReleased || session.bridge.server !== server) return true;
  void obey(context, session, { request, server }).catch((error: unknown) => {
    if (error instanceof BusyError) return;
    context.log.error({ error, type: request.type }, "handling a plugin message failed");
  });
  return true;
}

type Asked = { request: PluginRequest; server: string };

async function obey(context: PluginDeps, session: Session, { request, server }: Asked): Promise<void> {
  switch (request.type) {
    case "Connect":
      return connect(context, session, request.server);
    case "GetServer":
      return answer(session, server, writeAnswer(["GetServer", server]));
    case "GetServers":
      return answer(session, server, writeAnswer(["GetServers", namesOf(context).join(", ")]));
    case "UUID":
      return answer(session, server, writeAnswer(["UUID", session.uuid.replaceAll("-", "")]));
    case "PlayerCount": {
      const count = await countOf(context, request.server);
      if (count === undefined || !isCurrent(context, session)) return;
      return answer(session, server, writeAnswer(["PlayerCount", request.server], count));
    }
  }
}

/** Only to the server that asked: the player may be on another one by now. */
function answer({ bridge }: Session, server: string, data: Buffer): void {
  if (bridge.server === server) bridge.sendToServer({ channel: bungeeChannel, data });
}

/** What players read with /felis list, and the lobby; as many as fit one word. */
function namesOf(context: PluginDeps): string[] {
  const { registry, config } = context;
  const names = registry
    .all()
    .map(({ name }) => name)
    .filter((name) => !isSystem(context, name))
    .sort();
  return [config.lobbyServer, ...names].slice(0, mostNames);
}
const mostNames = 500;

/** As /glist counts; undefined for a server that is not there, and while nobody knows. */
async function countOf(context: PluginDeps, server: string): Promise<number | undefined> {
  const players = await context.online.read();
  if (!players) return undefined;
  if (server === "ALL") return players.length;
  const isKnown = namesOf(context).includes(server);
  return isKnown ? players.filter((player) => player.server === server).length : undefined;
}

/** As `/felis go` and `/felis lobby`, with the same budget; a plugin hears of no refusal, the player does. */
async function connect(context: PluginDeps, session: Session, server: string): Promise<void> {
  if (!context.isRouting || session.bridge.server === server) return;
  const isLobby = server === context.config.lobbyServer;
  if (!isLobby && (isSystem(context, server) || !context.registry.find(server))) return;
  if (context.actions.spend(session.uuid) > 0) return;
  if (!isLobby) return goOrWake(context, session, { server, origin: "join" });
  context.queue.leave(session.uuid);
  session.target = undefined;
  await toLobby(context, session, undefined);
}
