// Who came, went where and left: one log line each, and what the service is told of it.

import type { MinecraftFault } from "@svc/minecraft";
import type { Logger } from "@svc/telemetry";
import type { Answer, InternalApi } from "../api/internal-api.ts";
import type { Pool } from "../api/pool.ts";
import type { ProxyConfig } from "../config.ts";
import { type Place, type SystemServers, serverAt } from "../session/place.ts";
import type { Session } from "../session/session.ts";
import type { Activity } from "./activity.ts";
import type { Visits } from "./visits.ts";

export type ReportDeps = {
  readonly config: SystemServers & Pick<ProxyConfig, "logAddresses">;
  readonly log: Logger;
  readonly api: Pick<InternalApi, "reportJoin" | "reportLeave">;
  readonly pool: Pool;
  readonly activity: Pick<Activity, "count">;
  readonly visits: Pick<Visits, "began" | "ended">;
  /** Joins and leaves on their way to the service. */
  readonly reports: Set<Promise<void>>;
};

function about({ config }: ReportDeps, { name: player, uuid: mc_uuid, bridge }: Session) {
  return { player, mc_uuid, ...(config.logAddresses && { address: bridge.player.address }) };
}

export function logConnected(context: ReportDeps, session: Session): void {
  const { player } = session.bridge;
  const client = player.version.label;
  context.log.info({ ...about(context, session), host: player.host, client }, "player connected");
}

export function reportSwitch(context: ReportDeps, session: Session, from: Place): void {
  const { place } = session;
  const server = serverAt(place, context.config);
  const line = {
    ...about(context, session),
    server,
    from: serverAt(from, context.config),
    reason: session.lost,
  };
  context.log.info(line, place.kind === "gate" ? "player is at the gate" : "player switched");
  context.visits.ended(session);
  if (place.kind === "server") context.visits.began(session, place.name);
  if (from.kind === "server") reportLeave(context, session, { server: from.name, reason: reasonOf(session) });
  if (place.kind === "server") reportJoin(context, session, place.name);
  session.lost = undefined;
}

const reasonOf = ({ lost }: Session) => (lost === undefined ? "switched" : "lost");

export function reportDisconnected(
  context: ReportDeps,
  session: Session,
  fault: MinecraftFault | undefined,
): void {
  const { place, ended } = session;
  context.visits.ended(session);
  const reason = ended ?? (fault ? fault.code : "left");
  const server = serverAt(place, context.config);
  const detail = ended === undefined && fault ? fault.message : session.lost;
  context.log.info({ ...about(context, session), server, reason, detail }, "player disconnected");
  if (place.kind === "server") reportLeave(context, session, { server: place.name, reason });
}

function reportJoin(context: ReportDeps, session: Session, server: string): void {
  const { uuid, name } = session;
  send(context, server, () => context.api.reportJoin(server, { mc_uuid: uuid, player_name: name }));
}

function reportLeave(
  context: ReportDeps,
  { uuid, name }: Session,
  { server, reason }: { server: string; reason: string },
): void {
  send(context, server, () => context.api.reportLeave(server, { mc_uuid: uuid, player_name: name, reason }));
}

function send(context: ReportDeps, server: string, call: () => Promise<Answer<unknown>>): void {
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
