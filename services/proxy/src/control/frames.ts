// Frames of svc:control as they arrive (docs/reference/svc-control.md#rules). The player is always the one whose connection it is.

import type { PluginMessage } from "@svc/minecraft";
import { type ControlFrame, controlChannel, decodeControl, maxControlBytes } from "@svc/proto/control";
import type { InternalApi } from "../api/internal-api.ts";
import { BusyError } from "../api/pool.ts";
import type { Budget } from "../budget/budget.ts";
import { type ConnectDeps, enterServer } from "../connect/connect-player.ts";
import { type ReleaseDeps, release } from "../gate/release.ts";
import type { Queue } from "../queue/queue.ts";
import { type WakeDeps, wakeAndQueue } from "../queue/wake-player.ts";
import { joinAddress } from "../registry/join-address.ts";
import type { Registry } from "../registry/registry.ts";
import { isSystem, type SystemServers } from "../session/place.ts";
import { sendToLobby as send } from "../session/send-to-lobby.ts";
import { isCurrent, type Session, sentence } from "../session/session.ts";
import { startOutlookOf } from "../status/start-outlook.ts";
import type { ForeignFrameLog } from "./foreign-frames.ts";
import type { MenuCache } from "./menu-cache.ts";
import { type FrameSource, listFor, maySend } from "./policy.ts";

export type GoDeps = ConnectDeps &
  WakeDeps & {
    readonly api: Pick<InternalApi, "readStatus">;
    readonly registry: Pick<Registry, "find" | "note">;
    readonly queue: Pick<Queue, "leave">;
  };

type FrameDeps = ReleaseDeps &
  GoDeps & {
    readonly api: Pick<InternalApi, "menuAccess" | "claim">;
    readonly registry: Pick<Registry, "all">;
    readonly isRouting: boolean;
    readonly actions: Budget;
    readonly frames: Budget;
    readonly menus: MenuCache;
    readonly foreignFrames: ForeignFrameLog;
  };

/** Handles a plugin message. True: it was a control frame and is not passed on, whatever its outcome. */
export function takeFrame(
  context: FrameDeps,
  session: Session,
  from: { message: PluginMessage; server: string },
): boolean {
  const { message, server } = from;
  if (message.channel !== controlChannel) return false;
  const frame = decodeControl(message.data);
  if (!frame) return true;
  if (!maySend(sourceOf(context, server), frame.type)) {
    context.foreignFrames.warn(server, frame.type);
    return true;
  }
  if (context.frames.spend(session.uuid) > 0) return true;
  // A frame that arrives after the player moved on is void.
  if (session.bridge.server !== server) return true;
  void obey(context, session, frame).catch((error: unknown) => {
    if (error instanceof BusyError)
      return sendError(context, session, { code: "busy", server: serverOf(frame) });
    context.log.error({ error, type: frame.type }, "handling a control frame failed");
  });
  return true;
}

function sourceOf({ config }: SystemConfig, server: string): FrameSource {
  if (server === config.loginServer) return "gate";
  return server === config.lobbyServer ? "lobby" : "server";
}

function serverOf(frame: ControlFrame): string | null {
  return "server" in frame ? (frame.server ?? null) : null;
}

async function obey(context: FrameDeps, session: Session, frame: ControlFrame): Promise<void> {
  if (frame.type === "LoginRelease") return release(context, session);
  if (!session.isReleased) return;
  if (frame.type === "ListRequest") return sendList(context, session);
  const name = serverOf(frame);
  if (name === null || isSystem(context, name) || !context.registry.find(name)) {
    return sendError(context, session, { code: "not_found", server: name });
  }
  if (frame.type === "StatusQuery") return sendStatus(context, session, name);
  if (!context.isRouting) return sendError(context, session, { code: "routing_off", server: name });
  if (context.actions.spend(session.uuid) > 0)
    return sendError(context, session, { code: "busy", server: name });
  if (frame.type === "ClaimRequest" && !(await claim(context, session, name))) return;
  if (frame.type === "WakeRequest" || frame.type === "ClaimRequest")
    await goOrWake(context, session, { server: name, origin: "menu" });
}

async function sendList(context: FrameDeps, session: Session): Promise<void> {
  const { api, pool, registry, config } = context;
  const [answer] = await Promise.all([pool.run(() => api.menuAccess(session.uuid)), context.refreshOnMiss()]);
  const names = registry
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== config.loginServer && name !== config.lobbyServer);
  const verdicts = answer.ok ? answer.value.servers : {};
  const list = listFor(names, verdicts, { names: config.limits.listNames, bytes: maxControlBytes });
  send(context, session, { type: "ListUpdate", ...list });
}

async function sendStatus(context: FrameDeps, session: Session, name: string): Promise<void> {
  const row = await context.menus.read(name);
  if (row === "unknown") return sendError(context, session, { code: "not_found", server: name });
  if (row === undefined) return sendError(context, session, { code: "unavailable", server: name });
  const { phase, ready, playersOnline, playersMax, claimable } = row;
  const outlook = startOutlookOf(context.registry.find(name), context.now());
  send(context, session, {
    type: "StatusUpdate",
    server: name,
    phase,
    ready,
    playersOnline,
    playersMax,
    claimable,
    ...(!ready && outlook.kind === "about" && { startSeconds: outlook.seconds }),
  });
}

async function claim(context: FrameDeps, session: Session, name: string): Promise<boolean> {
  const { api, pool } = context;
  const answer = await pool.run(() => api.claim(name, session.uuid));
  if (answer.ok) return true;
  // What a broken connection says of itself is for the log, not for a player.
  const isAnswer = answer.status !== 0 && answer.status < 500;
  const refusal = isAnswer
    ? { code: answer.code, message: answer.message }
    : { code: "unavailable", message: sentence(session, "serviceDown") };
  sendError(context, session, { ...refusal, server: name });
  return false;
}

/** To a server that is up at once; else it is woken and waited for. */
export async function goOrWake(
  context: GoDeps,
  session: Session,
  want: { server: string; origin: "menu" | "join" },
): Promise<void> {
  const { api, pool, registry } = context;
  const { server } = want;
  const answer = await pool.run(() => api.readStatus(server));
  if (!isCurrent(context, session)) return;
  if (answer.ok) registry.note(answer.value);
  const address = answer.ok ? joinAddress(answer.value) : undefined;
  if (address === undefined) {
    const told = await wakeAndQueue(context, session, want);
    if (!told.queued && want.origin === "menu") sendError(context, session, { code: told.code, server });
    return;
  }
  context.queue.leave(session.uuid);
  const announce = () => {
    if (want.origin === "menu")
      send(context, session, { type: "TransferReady", player: session.uuid, server });
  };
  await enterServer(context, session, { name: server, address, announce });
}

type SystemConfig = { readonly config: SystemServers };
type ErrorFrame = { code: string; server: string | null; message?: string };

function sendError(context: SystemConfig, session: Session, { code, server, message }: ErrorFrame): void {
  const text = message ?? (code === "busy" ? sentence(session, "busy") : sentence(session, "tryAgain"));
  send(context, session, { type: "Error", code, message: text, ...(server !== null && { server }) });
}
