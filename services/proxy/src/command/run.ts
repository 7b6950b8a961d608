// What the player commands do (docs/reference/proxy.md#commands). Nothing of it works in the gate.

import type { InternalApi } from "../api/internal-api.ts";
import { BusyError } from "../api/pool.ts";
import type { Budget } from "../budget/budget.ts";
import type { ProxyConfig } from "../config.ts";
import { toLobby } from "../connect/connect-player.ts";
import { goOrWake } from "../control/frames.ts";
import type { Queue } from "../queue/queue.ts";
import type { Registry } from "../registry/registry.ts";
import { isSystem } from "../session/place.ts";
import { type Session, tell } from "../session/session.ts";
import type { SentenceKey } from "../text/text.ts";
import { type AccountDeps, approveLogin, mintLink, startMigration } from "./account.ts";
import { listEverybody } from "./glist.ts";
import { acceptInvite, type InviteDeps, invite } from "./invite.ts";
import { type Command, isActing, parseCommand } from "./parse.ts";

type CommandDeps = AccountDeps &
  InviteDeps & {
    readonly config: Pick<ProxyConfig, "panelUrl">;
    readonly api: Pick<InternalApi, "claim">;
    readonly registry: Pick<Registry, "all">;
    readonly queue: Pick<Queue, "find" | "leave">;
    readonly actions: Budget;
    readonly refreshOnMiss: () => Promise<void>;
  };

/** True when the command is ours: then the server never sees it. */
export function runCommand(context: CommandDeps, session: Session, line: string): boolean {
  const command = parseCommand(line);
  if (!command) return false;
  if (session.place.kind === "gate" || !session.isReleased) {
    tell(session, "notInGate");
    return true;
  }
  const waitMs = isActing(command) ? context.actions.spend(session.uuid) : 0;
  if (waitMs > 0) {
    tell(session, "tooFast", { seconds: Math.ceil(waitMs / 1_000) });
    return true;
  }
  void act(context, session, command).catch((error: unknown) => {
    if (error instanceof BusyError) return tell(session, "busy");
    context.log.error({ error, command: command.name }, "command failed");
    tell(session, "tryAgain");
  });
  return true;
}

async function act(context: CommandDeps, session: Session, command: Command): Promise<void> {
  switch (command.name) {
    case "link":
      return mintLink(context, session);
    case "go":
      return go(context, session, command.server);
    case "lobby":
      return lobby(context, session);
    case "claim":
      return claim(context, session);
    case "migrate":
      return startMigration(context, session);
    case "approve":
      return approveLogin(context, session, command);
    case "glist":
      return listEverybody(context, session);
    case "invite":
      return invite(context, session, command.player);
    case "acceptInvite":
      return acceptInvite(context, session, command.id);
    default:
      return show(context, session, command.name);
  }
}

function show(
  context: CommandDeps,
  session: Session,
  name: "status" | "list" | "help" | "web" | "usage" | "inviteUsage",
) {
  const { queue, registry, config } = context;
  if (name === "status") {
    const waiting = queue.find(session.uuid)?.server;
    const server = session.bridge.server ?? "-";
    return tell(session, "status", { server, waiting: waiting ?? "-" });
  }
  if (name === "list") {
    const names = registry
      .all()
      .map((server) => server.name)
      .filter((server) => !isSystem(context, server))
      .sort();
    return names.length === 0
      ? tell(session, "noServers")
      : tell(session, "serverList", { servers: names.join(", ") });
  }
  if (name === "web") {
    const { panelUrl: panel } = config;
    return panel === undefined ? tell(session, "noPanel") : tell(session, "web", { panel });
  }
  tell(session, name);
}

async function go(context: CommandDeps, session: Session, server: string): Promise<void> {
  if (!context.isRouting) return tell(session, "routingOff");
  if (server === context.config.lobbyServer) return lobby(context, session);
  if (!context.registry.find(server)) await context.refreshOnMiss();
  const isManaged = !isSystem(context, server) && context.registry.find(server) !== undefined;
  if (!isManaged) return tell(session, "serverUnknown", { server });
  await goOrWake(context, session, { server, origin: "join" });
}

async function lobby(context: CommandDeps, session: Session): Promise<void> {
  if (session.place.kind === "lobby" && session.bridge.server !== undefined) return tell(session, "inLobby");
  context.queue.leave(session.uuid);
  session.target = undefined;
  await toLobby(context, session, undefined);
}

const claimRefusals: Readonly<Record<string, SentenceKey>> = {
  not_linked: "notLinkedYet",
  quota_exceeded: "quotaExceeded",
  already_claimed: "alreadyClaimed",
  server_retiring: "retiring",
  world_reclaiming: "reclaiming",
};

/** Claims the server that the player is on. */
async function claim({ api, pool }: CommandDeps, session: Session): Promise<void> {
  if (session.place.kind !== "server") return tell(session, "usage");
  const server = session.place.name;
  const answer = await pool.run(() => api.claim(server, session.uuid));
  if (answer.ok) return tell(session, "claimed", { server });
  const known = claimRefusals[answer.code];
  if (known) return tell(session, known, { server });
  tell(session, answer.status === 0 || answer.status >= 500 ? "serviceDown" : "tryAgain");
}
