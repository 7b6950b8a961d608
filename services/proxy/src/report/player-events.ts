// Who came, went where and left: one log line each, and what the service is told of it.

import type { MinecraftFault } from "@svc/minecraft";
import type { Answer } from "../api/internal-api.ts";
import type { Place } from "../gate/policy.ts";
import type { Context, Session } from "../session/session.ts";

function about({ config }: Context, { name: player, uuid: mc_uuid, bridge }: Session) {
  return { player, mc_uuid, ...(config.logAddresses && { address: bridge.player.address }) };
}

/** The server's name; undefined on the way to the first one. */
export function serverOf({ config }: Pick<Context, "config">, place: Place): string | undefined {
  if (place.kind === "server") return place.name;
  if (place.kind === "gate") return config.loginServer;
  return place.kind === "lobby" ? config.lobbyServer : undefined;
}

export function logConnected(context: Context, session: Session): void {
  const { player } = session.bridge;
  const client = player.version.label;
  context.log.info({ ...about(context, session), host: player.host, client }, "player connected");
}

export function reportSwitch(context: Context, session: Session, from: Place): void {
  const { place } = session;
  const server = serverOf(context, place);
  const line = { ...about(context, session), server, from: serverOf(context, from), reason: session.lost };
  context.log.info(line, place.kind === "gate" ? "player is at the gate" : "player switched");
  if (from.kind === "server") reportLeave(context, session, { server: from.name, reason: reasonOf(session) });
  if (place.kind === "server") reportJoin(context, session, place.name);
  session.lost = undefined;
}

const reasonOf = ({ lost }: Session) => (lost === undefined ? "switched" : "lost");

export function reportDisconnected(
  context: Context,
  session: Session,
  fault: MinecraftFault | undefined,
): void {
  const { place, ended } = session;
  const reason = ended ?? (fault ? fault.code : "left");
  const server = serverOf(context, place);
  const detail = ended === undefined && fault ? fault.message : session.lost;
  context.log.info({ ...about(context, session), server, reason, detail }, "player disconnected");
  if (place.kind === "server") reportLeave(context, session, { server: place.name, reason });
}

function reportJoin(context: Context, session: Session, server: string): void {
  const { uuid, name } = session;
  send(context, server, () => context.api.reportJoin(server, { mc_uuid: uuid, player_name: name }));
}

function reportLeave(
  context: Context,
  { uuid, name }: Session,
  { server, reason }: { server: string; reason: string },
): void {
  send(context, server, () => context.api.reportLeave(server, { mc_uuid: uuid, player_name: name, reason }));
}

function send(context: Context, server: string, call: () => Promise<Answer<unknown>>): void {
  const { activity, log, pool, reports } = context;
  const report = pool.run(call).then(
    (answer) => {
      if (answer.ok) return;
      activity.count("joinEventsFailed");
      log.warn({ server, status: answer.status, code: answer.code }, "reporting a join or leave failed");
    },
    () => {
      activity.count("joinEventsDropped");
      log.warn({ server }, "join or leave not reported: all workers are busy");
    },
  );
  reports.add(report);
  void report.finally(() => reports.delete(report));
}
