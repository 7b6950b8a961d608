// Releases a player from the gate (docs/reference/proxy.md#join). Every connection passes here; nothing else sets `isReleased`.

import type { links } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";
import { BusyError } from "../api/pool.ts";
import type { ProxyConfig } from "../config.ts";
import { type ConnectDeps, enterServer, toLobby } from "../connect/connect-player.ts";
import { standingTexts } from "../player/standing.ts";
import { type WakeDeps, wakeAndQueue } from "../queue/wake-player.ts";
import type { Registry } from "../registry/registry.ts";
import { isSystem } from "../session/place.ts";
import { disconnect, isCurrent, type Session, sentence, tell } from "../session/session.ts";
import type { SentenceKey } from "../text/text.ts";
import type { LinkCache } from "./link-cache.ts";
import { afterGate, type Heard, type LinkAnswer, type LinkVerdict, linkVerdict } from "./policy.ts";

export type ReleaseDeps = ConnectDeps &
  WakeDeps & {
    readonly config: Pick<ProxyConfig, "onlineMode" | "limits">;
    readonly api: Pick<InternalApi, "linkStatus" | "readStandings" | "readStatus">;
    readonly registry: Pick<Registry, "bySubdomain" | "note">;
    readonly links: LinkCache;
    /** Polls the list of servers out of turn, for a name that it lacks. */
    readonly refreshOnMiss: () => Promise<void>;
  };

export async function release(context: ReleaseDeps, session: Session): Promise<void> {
  if (session.isReleasing || session.place.kind !== "gate") return;
  session.isReleasing = true;
  try {
    const verdict = await askLink(context, session);
    if (!isCurrent(context, session)) return;
    // Checked anew each time: an earlier release of this connection that led nowhere does not count.
    session.isReleased = verdict === "released";
    if (verdict !== "released") return deny(context, session, verdict);
    await leaveGate(context, session);
  } finally {
    session.isReleasing = false;
  }
}

type Told = Exclude<LinkVerdict, "barred"> | keyof typeof standingTexts | "busy";

async function askLink(context: ReleaseDeps, session: Session): Promise<Told> {
  const { pool, api, links, now, config } = context;
  const { uuid } = session;
  // Without online mode nobody vouches for the UUID: its link would be somebody else's.
  if (!config.onlineMode) return "unknown";
  try {
    const [link, found] = await pool.run(() =>
      Promise.all([api.linkStatus(uuid), api.readStandings([uuid])]),
    );
    const standing = found.ok ? found.value.standings[uuid] : undefined;
    const barred = found.ok ? isAgainst(standing) : noAnswer(found.status);
    const linked = link.ok ? (link.value.linked ? "yes" : "no") : noAnswer(link.status);
    const answer: LinkAnswer = { linked, barred };
    const verdict = linkVerdict(answer, links.linkedAt(uuid), { now: now(), limits: config.limits });
    if (verdict === "barred" || verdict === "not_linked") links.forget(uuid);
    // What an older connection of the player asked may be answered late: it must not outlive a newer "no".
    const isHeardNow = answer.linked === "yes" && answer.barred === "no";
    if (isHeardNow && isCurrent(context, session)) links.remember(uuid);
    return verdict === "barred" ? (standing ?? "barred") : verdict;
  } catch (error) {
    if (error instanceof BusyError) return "busy";
    throw error;
  }
}

// Who is not linked is not turned away: linking is what the gate is for.
const isAgainst = (standing: links.BadStanding | undefined): Heard =>
  standing === undefined || standing === "not_linked" ? "no" : "yes";

const noAnswer = (status: number): Heard => (status === 0 || status >= 500 ? "silence" : "refused");

const denials = {
  not_linked: "notLinked",
  unknown: "linkUnknown",
  busy: "busy",
} as const satisfies Record<string, SentenceKey>;

function deny({ now, config }: ReleaseDeps, session: Session, verdict: Exclude<Told, "released">): void {
  if (verdict !== "not_linked" && verdict in standingTexts) {
    disconnect(session, sentence(session, standingTexts[verdict as links.BadStanding]), verdict);
    return;
  }
  if (now() - session.deniedAt < config.limits.denialMs) return;
  session.deniedAt = now();
  tell(session, denials[verdict as keyof typeof denials]);
}

/** True when nothing has the subdomain that was typed: a server made a moment ago is in no list yet. */
async function lookForTarget(context: ReleaseDeps, session: Session): Promise<boolean> {
  const { unknownSubdomain } = session;
  if (unknownSubdomain === undefined) return false;
  session.unknownSubdomain = undefined;
  await context.refreshOnMiss();
  const found = context.registry.bySubdomain(unknownSubdomain)?.name;
  if (found === undefined) return true;
  if (!isSystem(context, found)) session.target = found;
  return false;
}

async function leaveGate(context: ReleaseDeps, session: Session): Promise<void> {
  const { api, registry, pool } = context;
  const isUnknown = await lookForTarget(context, session);
  const { target } = session;
  if (target !== undefined) {
    const answer = await pool.run(() => api.readStatus(target)).catch(() => undefined);
    if (answer?.ok) registry.note(answer.value);
    if (!isCurrent(context, session)) return;
  }
  const after = afterGate(target, registry.find);
  if (after.go === "server") return void (await enterServer(context, session, after));
  await toLobby(context, session, undefined);
  if (session.place.kind !== "lobby") return;
  if (isUnknown) tell(session, "motdUnknown");
  if ("notice" in after) {
    session.target = undefined;
    tell(session, after.notice, { server: after.name });
  }
  if ("wake" in after) await wakeAndQueue(context, session, { server: after.wake, origin: "join" });
}
