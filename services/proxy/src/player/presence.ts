// Who plays where, over all proxies: what this one reports, and what it hears of the others.

import { players } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import type { ProxyConfig } from "../config.ts";
import { type InvitationDeps, receiveInvitation } from "../invite/receive.ts";
import { type SystemServers, serverAt } from "../session/place.ts";
import { disconnect, isCurrent, type Session, sentence } from "../session/session.ts";

type PresenceDeps = InvitationDeps & {
  readonly config: SystemServers & Pick<ProxyConfig, "onlineMode">;
  readonly api: Pick<InternalApi, "reportPlayers">;
  /** This process, among all proxies. */
  readonly proxyId: string;
};

/** Reports all online players with each run; an empty proxy only once, for nothing is learnt from its silence. */
export function createPresenceReports(context: PresenceDeps): {
  isNeeded: () => boolean;
  run: () => Promise<void>;
} {
  let isEmptyKnown = false;
  return {
    // An unverified UUID must not end the session of its real owner.
    isNeeded: () => context.config.onlineMode && (context.sessions.size > 0 || !isEmptyKnown),
    run: async () => {
      const sessions = [...context.sessions.values()].slice(0, players.maxPlayersReported);
      isEmptyKnown = (await reportSessions(context, sessions)) && sessions.length === 0;
    },
  };
}

/** A player who has connected to another proxy since is disconnected here. False when the report did not arrive. */
async function reportSessions(context: PresenceDeps, sessions: readonly Session[]): Promise<boolean> {
  const answer = await context.api.reportPlayers(context.proxyId, sessions.map(rowOf(context)));
  if (!answer.ok) return false;
  const elsewhere = new Set(answer.value.elsewhere);
  for (const session of sessions) {
    if (!elsewhere.has(session.id) || !isCurrent(context, session)) continue;
    disconnect(session, sentence(session, "elsewhere"), "elsewhere");
  }
  for (const invitation of answer.value.invitations) receiveInvitation(context, invitation);
  return true;
}

const rowOf = (context: PresenceDeps) => (session: Session) => {
  const server = serverAt(session.place, context.config);
  return {
    mc_uuid: session.uuid,
    name: session.name,
    session: session.id,
    ...(server !== undefined && { server }),
  };
};

/** Everybody on every proxy; undefined while the service does not say. */
export type Online = { read: () => Promise<readonly players.OnlinePlayer[] | undefined> };

/** The list is cached for a moment; concurrent readers share one call. */
export function createOnline(about: {
  api: Pick<InternalApi, "listPlayers">;
  keepMs: number;
  now: () => number;
}): Online {
  let kept: { until: number; list: ReturnType<Online["read"]> } | undefined;
  const ask = async () => {
    const answer = await about.api.listPlayers();
    return answer.ok ? answer.value.players : undefined;
  };
  return {
    read: () => {
      if (!kept || about.now() >= kept.until) kept = { until: about.now() + about.keepMs, list: ask() };
      return kept.list;
    },
  };
}
